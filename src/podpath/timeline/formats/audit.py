"""Lines of the Linux audit system: `type=SERVICE_START msg=audit(1644544143.120:421): pid=1 uid=0
... msg='unit=tuned ...'`.

Also what `ausearch -i` prints, with a date in place of the seconds.
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, ReadStamp
from podpath.timeline.stamps import WallClock

_HEAD: Final = re.compile(
    r"(?:node=(?P<host>\S+) )?(?:type=(?P<type>\S+) )?(?:msg=)?"
    r"audit\((?:(?P<seconds>\d{1,11}\.\d{1,3})|(?P<date>[^)]{8,30})):\d+\) ?: ?"
)
_HEADINGS: Final = re.compile(r"-{4}$|time->")
_DAY: Final = re.compile(
    r"(?P<first>\d\d)/(?P<second>\d\d)/(?P<year>\d{2,4}) (?P<hour>\d\d):(?P<minute>\d\d):"
    r"(?P<seconds>\d\d(?:\.\d{1,3})?)"
)


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    del source
    wall = WallClock(clock.zone)

    def read(line: str) -> float | None:
        found = _HEAD.match(line)
        if found is None:
            return None
        if found["seconds"]:
            return float(found["seconds"])
        return _place(found["date"], wall)

    return read


def _place(date: str, wall: WallClock) -> float | None:
    """Place a date of `ausearch -i`: month first, as the C locale has it, unless it can only be the
    day.
    """
    found = _DAY.fullmatch(date)
    if found is None:
        stamp = wall.match(date)
        return stamp.time if stamp is not None else None
    month, day = int(found["first"]), int(found["second"])
    month, day = (day, month) if month > 12 else (month, day)
    year = int(found["year"]) + (2000 if len(found["year"]) == 2 else 0)
    return wall.place(
        (year, month, day), int(found["hour"]), int(found["minute"]), float(found["seconds"])
    )


def _split(_: Source) -> Split:
    return take_apart


def take_apart(line: str) -> LineParts:
    """Take a line apart: its type, which says what happened, leads the message."""
    found = _HEAD.match(line)
    if found is None:
        return LineParts("audit", line)
    return LineParts(
        "audit", f"{found['type'] or ''} {line[found.end() :]}".strip(), found["host"] or ""
    )


FORMAT = LineFormat("audit log", _HEAD, _stamp, _split, headings=_HEADINGS)
