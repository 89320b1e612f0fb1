"""Access logs of web servers and ingresses (common log format): `10.4.0.9 - - [11/Feb/2022:09:49:15
+0800] "GET /" 504 167`.
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, ReadStamp
from podpath.timeline.origins import name_origin
from podpath.timeline.stamps import MONTHS, WallClock, parse_offset

_HEAD: Final = re.compile(
    r"(?P<client>\S{1,100}) \S{1,100} \S{1,100} \[(?P<day>\d\d)/(?P<month>[A-Z][a-z]{2})/"
    r"(?P<year>\d{4}):(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d) (?P<zone>[+-]\d{4})\] "
)


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    del source, clock
    walls: dict[str, WallClock | None] = {}

    def read(line: str) -> float | None:
        found = _HEAD.match(line)
        month = MONTHS.get(found["month"]) if found is not None else None
        if found is None or month is None:
            return None
        if found["zone"] not in walls:
            zone = parse_offset(found["zone"])
            walls[found["zone"]] = WallClock(zone) if zone is not None else None
        wall = walls[found["zone"]]
        date = (int(found["year"]), month, int(found["day"]))
        if wall is not None:
            return wall.place(
                date, int(found["hour"]), int(found["minute"]), float(found["second"])
            )
        return None

    return read


def _split(source: Source) -> Split:
    origin = name_origin(source)

    def take_apart(line: str) -> LineParts:
        found = _HEAD.match(line)
        return LineParts(
            origin, f"{found['client']} {line[found.end() :]}" if found is not None else line
        )

    return take_apart


FORMAT = LineFormat("access log", _HEAD, _stamp, _split)
