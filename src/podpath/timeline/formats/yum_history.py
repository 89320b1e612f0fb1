"""The table of `yum history` and `dnf history`: a run on each row, its date to the minute.

`    42 | update polkit            | 2022-02-11 09:48 | Update         |    1`
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, stamps_in

_ROW: Final = re.compile(
    r" *\d{1,6} \|(?P<command>[^|]*)\| (?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d) \|(?P<action>[^|]*)\|"
)
_HEADINGS: Final = re.compile(r" *ID +\||-{10}|Loaded plugins|history list|Last metadata")


def _split(_: Source) -> Split:
    return take_apart


def take_apart(line: str) -> LineParts:
    """Take a row apart: what was typed (or who ran it, in older versions), and what it did."""
    found = _ROW.match(line)
    if found is None:
        return LineParts("yum", line)
    return LineParts("yum", f"run: {found['command'].strip()} ({found['action'].strip()})")


FORMAT = LineFormat(
    "yum history",
    _ROW,
    stamps_in(_ROW, "stamp"),
    _split,
    headings=_HEADINGS,
    of_node=True,
    sparse=True,
)
