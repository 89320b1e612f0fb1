"""Moments as people name them on a command line: a full date, a time of the day, seconds since the
epoch.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple

from podpath.net.errors import UsageError
from podpath.timeline.clock import Clock, to_wall
from podpath.timeline.stamps import MONTHS, WallClock

_OF_DAY = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d(?:[.,]\d{1,9})?))?")
_MONTH = re.compile(r"(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) (?P<time>\S+)")
_EPOCH = re.compile(r"@?(?P<seconds>\d{9,11}(?:\.\d{1,9})?)")


class Reach(NamedTuple):
    """From when to when logs reach; a time of the day is taken for the latest one within."""

    first: float
    last: float


def parse_moment(text: str, clock: Clock, reach: Reach | None = None) -> float:
    """Read a moment; `UsageError` says what is accepted. What it leaves out is taken from the logs,
    or from now.
    """
    spelled = text.strip()
    wall = WallClock(clock.zone)
    epoch = _EPOCH.fullmatch(spelled)
    if epoch is not None:
        return float(epoch["seconds"])
    stamp = wall.match(spelled)
    if stamp is not None and stamp.end == len(spelled):
        return stamp.time
    last = reach.last if reach is not None else clock.now
    month = _MONTH.fullmatch(spelled)
    if month is not None and month["month"] in MONTHS:
        day = int(month["day"])
        years = (to_wall(last, clock.zone).year + step for step in (0, -1, 1))
        placed = [
            _place(wall, (year, MONTHS[month["month"]], day), month["time"]) for year in years
        ]
        found = _latest([time for time in placed if time is not None], last)
    else:
        days = [_shift(to_wall(last, clock.zone).date(), -step) for step in range(_days(reach) + 1)]
        placed = [_place(wall, (one.year, one.month, one.day), spelled) for one in days]
        found = _latest([time for time in placed if time is not None], last)
    if found is None:
        raise UsageError(
            f"{text!r}: expected a moment such as 2022-02-11T09:49:15+08:00, 'Feb 11 09:49:15' or "
            "09:49:15"
        )
    return found


def _days(reach: Reach | None) -> int:
    """Say how many days back a time of the day may be: as far as the logs go, a year at most."""
    if reach is None:
        return 1
    return min(int((reach.last - reach.first) // 86_400) + 1, 366)


def _shift(day: date, days: int) -> date:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return day


def _place(wall: WallClock, day: tuple[int, int, int], text: str) -> float | None:
    found = _OF_DAY.fullmatch(text)
    if found is None:
        return None
    second = float((found["second"] or "0").replace(",", "."))
    return wall.place(day, int(found["hour"]), int(found["minute"]), second)


_SLACK = 600.0
"""How far behind the last line a failure may be: the log was taken before it, or elsewhere."""


def _latest(times: list[float], last: float) -> float | None:
    """Return the latest moment that is not long after the last line; the earliest where all are."""
    within = [time for time in times if time <= last + _SLACK]
    return max(within) if within else min(times, default=None)
