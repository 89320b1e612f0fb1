"""Lines that start as date(1) prints the time, in loops that people write: `Fri Feb 11 09:49:15 CST
2022 curl: timed out`.
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.lines import LineFormat, ReadStamp, split_behind
from podpath.timeline.stamps import MONTHS, WallClock, parse_zone

_HEAD: Final = re.compile(
    r"[\[(]?[A-Z][a-z]{2} (?P<month>[A-Z][a-z]{2}) (?P<day>[ \d]\d) (?P<hour>\d\d):"
    r"(?P<minute>\d\d):(?P<second>\d\d)(?:[.:]\d{1,9})?(?: (?P<half>AM|PM))?"
    r"(?: (?P<zone>[A-Z]{2,5}))? (?P<year>\d{4})[\])]?(?:[: ]+|$)"
)


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    del source
    walls: dict[str | None, WallClock] = {None: WallClock(clock.zone)}

    def read(line: str) -> float | None:
        found = _HEAD.match(line)
        month = MONTHS.get(found["month"]) if found is not None else None
        if found is None or month is None:
            return None
        hour = int(found["hour"])
        if found["half"]:
            hour = hour % 12 + (12 if found["half"] == "PM" else 0)
        date = (int(found["year"]), month, int(found["day"]))
        zone = found["zone"]
        if zone not in walls:
            walls[zone] = WallClock(parse_zone(zone) or clock.zone)
        return walls[zone].place(date, hour, int(found["minute"]), float(found["second"]))

    return read


FORMAT = LineFormat("log with date(1)", _HEAD, _stamp, split_behind(_HEAD), wraps=True)
