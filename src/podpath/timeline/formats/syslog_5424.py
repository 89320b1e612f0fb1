"""The syslog protocol (RFC 5424): `<34>1 2022-02-11T09:49:03.123+08:00 node-7 systemd 1 - [meta
x="y"] Stopping ...`.
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, stamps_in

_HEAD: Final = re.compile(
    r"<\d{1,3}>1 (?P<stamp>\S+) (?P<host>\S+) (?P<program>\S+) (?P<pid>\S+) (?P<id>\S+) "
    r'(?P<data>-|(?:\[(?:[^\]"\\]|"(?:[^"\\]|\\.)*+"|\\.)*+\])+)(?: |$)'
)


def _split(_: Source) -> Split:
    return take_apart


def take_apart(line: str) -> LineParts:
    """Take a line apart; a field that is not there is spelled `-`."""
    found = _HEAD.match(line)
    if found is None:
        return LineParts("", line)
    program, host = (("" if found[name] == "-" else found[name]) for name in ("program", "host"))
    return LineParts(program, line[found.end() :].lstrip("\ufeff"), host)


FORMAT = LineFormat("syslog (RFC 5424)", _HEAD, stamps_in(_HEAD, "stamp"), _split)
