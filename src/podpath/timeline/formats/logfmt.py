"""logfmt, as containerd, dockerd and Cilium write: `time="2022-02-11T01:49:03Z" level=info
msg="..." subsys=daemon`.
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, ReadStamp
from podpath.timeline.origins import name_origin
from podpath.timeline.stamps import WallClock

_HEAD: Final = re.compile(
    r'(?:[\w.-]{1,40}=(?:"(?:[^"\\]|\\.){0,200}"|[^\s"]{0,200}) ){0,8}?(?:time|ts|t|timestamp)="?'
    r"(?:(?P<epoch>\d{10}(?:\.\d{1,9})?)|(?=\d{4}-\d\d-\d\d[T ]\d\d:\d\d))"
)
_MESSAGE: Final = re.compile(r'\bmsg=(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"?|(?P<bare>\S*))')
_WRITER: Final = re.compile(r'\b(?:subsys|logger|component|module)="?(?P<name>[\w./-]+)')


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    del source
    wall = WallClock(clock.zone)

    def read(line: str) -> float | None:
        found = _HEAD.match(line)
        if found is not None and found["epoch"]:
            return float(found["epoch"])
        stamp = wall.match(line, found.end()) if found is not None else None
        return stamp.time if stamp is not None else None

    return read


def _split(source: Source) -> Split:
    origin = name_origin(source)

    def take_apart(line: str) -> LineParts:
        found = _MESSAGE.search(line)
        writer = _WRITER.search(line) if not origin else None
        name = origin or (writer["name"] if writer is not None else "")
        if found is None:
            return LineParts(name, line)
        if found["quoted"] is not None:
            message = found["quoted"].replace('\\"', '"')
        else:
            message = found["bare"]
        rest = line[found.end() :].strip()
        return LineParts(name, f"{message} {rest}" if rest else message)

    return take_apart


FORMAT = LineFormat("logfmt", _HEAD, _stamp, _split, wraps=True)
