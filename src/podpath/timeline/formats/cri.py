"""Container logs as the kubelet finds them (CRI): `2022-02-11T01:49:03.123456789Z stdout F message`."""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import Parts, Split
from podpath.timeline.lines import LineFormat, ReadStamp
from podpath.timeline.origins import name_origin
from podpath.timeline.stamps import WallClock

_HEAD: Final = re.compile(
    r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (?P<stream>stdout|stderr) [FP](?: |$)"
)


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    del source
    wall = WallClock(clock.zone)

    def read(line: str) -> float | None:
        found = _HEAD.match(line)
        stamp = wall.match(line) if found is not None else None
        return stamp.time if stamp is not None else None

    return read


def _split(source: Source) -> Split:
    origin = name_origin(source)

    def take_apart(line: str) -> Parts:
        found = _HEAD.match(line)
        return Parts(origin, line[found.end() :] if found is not None else line)

    return take_apart


FORMAT = LineFormat("CRI container log", _HEAD, _stamp, _split)
