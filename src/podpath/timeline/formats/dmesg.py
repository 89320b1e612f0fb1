"""The kernel's ring buffer: `dmesg` with seconds since the boot, `dmesg -T`, `dmesg -H` and
`dmesg --time-format iso`.

The seconds are of a clock that stops while the machine sleeps, and that other clocks drift from:
they are placed by a boot time that the caller knows or that other logs tell (`timeline.boots`). A
log of several boots starts again at each `Linux version`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import UNPLACED, LineParts, Split
from podpath.timeline.lines import LineFormat, ReadStamp, stamps_in
from podpath.timeline.stamps import MONTHS, WallClock
from podpath.timeline.years import first_year, turn

_RELATIVE: Final = re.compile(
    r"(?:<\d{1,3}>)?(?:\w+ *: ?\w* *: )?\[ *(?P<seconds>\d{1,9}\.\d{1,9})(?: <[ \d.+-]+>)?\] ?"
    r"(?:\[ *[TC]\d+\] ?)?"
)
_CTIME: Final = re.compile(
    r"(?:\w+ *: ?\w* *: )?\[[A-Z][a-z]{2} (?P<month>[A-Z][a-z]{2}) (?P<day>[ \d]\d) "
    r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d) (?P<year>\d{4})(?: <[ \d.+-]+>)?\] ?"
)
_HUMAN: Final = re.compile(
    r"(?:\w+ *: ?\w* *: )?\[(?:(?P<month>[A-Z][a-z]{2})(?P<day>[ \d]\d) (?P<hour>\d\d):"
    r"(?P<minute>\d\d)| *\+(?P<later>\d{1,9}\.\d{1,9}))\] ?"
)
_ISO: Final = re.compile(r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{6}[+-]\d\d:\d\d) (?! )")


def seconds_of(line: str) -> float | None:
    """Return the seconds since the boot that a line's stamp says."""
    found = _RELATIVE.match(line)
    if found is not None:
        return float(found["seconds"])
    return None


class BootCounter:
    """Tells lines of one boot from those of the next: the kernel's clock starts again."""

    __slots__ = ("_before", "boot")

    def __init__(self) -> None:
        """Start in the first boot."""
        self.boot = 0
        self._before = 0.0

    def count(self, seconds: float) -> int:
        """Return the number of the boot that a stamp belongs to, from 0; small steps back are lines
        out of order.
        """
        if seconds < self._before - _DISORDER or (seconds < 1.0 < self._before - 1.0):
            self.boot += 1
        self._before = seconds
        return self.boot


_DISORDER: Final = 300.0
"""Seconds by which lines of one boot may be out of order: what several CPUs and a slow reader do is
far less.
"""


def count_boots(lines: Sequence[str]) -> int:
    """Count the boots that a log of the ring buffer spans; none where it has no stamp."""
    counter, seen = BootCounter(), False
    for line in lines:
        seconds = seconds_of(line)
        if seconds is not None:
            counter.count(seconds)
            seen = True
    return counter.boot + 1 if seen else 0


def _stamp_relative(source: Source, clock: Clock) -> ReadStamp:
    missing = count_boots(source.lines) - len(clock.boots)
    boots = ((None,) * missing + clock.boots) if missing > 0 else clock.boots[-missing:]
    counter = BootCounter()

    def read(line: str) -> float | None:
        seconds = seconds_of(line)
        if seconds is None:
            return None
        start = boots[min(counter.count(seconds), len(boots) - 1)] if boots else None
        return UNPLACED if start is None else start + seconds

    return read


def _stamp_ctime(source: Source, clock: Clock) -> ReadStamp:
    del source
    wall = WallClock(clock.zone)

    def read(line: str) -> float | None:
        found = _CTIME.match(line)
        month = MONTHS.get(found["month"]) if found is not None else None
        if found is None or month is None:
            return None
        date = (int(found["year"]), month, int(found["day"]))
        return wall.place(date, int(found["hour"]), int(found["minute"]), float(found["second"]))

    return read


def _stamp_human(source: Source, clock: Clock) -> ReadStamp:
    """Add the seconds that each line is later than the one before it to the minute above."""
    wall = WallClock(clock.zone)
    heads = [found for line in source.lines if (found := _HUMAN.match(line)) and found["month"]]
    dated = [found for found in heads if found["month"] in MONTHS]
    months = [MONTHS[found["month"]] for found in dated]
    year = first_year(months, (months[-1], int(dated[-1]["day"])), clock) if dated else 0
    month, time = 0, UNPLACED

    def read(line: str) -> float | None:
        nonlocal month, time, year
        found = _HUMAN.match(line)
        if found is None:
            return None
        if found["later"]:
            time += float(found["later"])
            return time
        number = MONTHS.get(found["month"])
        if number is None:
            return None
        year += turn(month, number)
        month = number
        date = (year, month, int(found["day"]))
        placed = wall.place(date, int(found["hour"]), int(found["minute"]), 0.0)
        if placed is not None:
            time = placed if time != time else max(placed, min(time, placed + 59.999))  # noqa: PLR0124 - NaN is not itself
        return placed and time

    return read


def _split(_: Source) -> Split:
    return take_apart


def take_apart(line: str) -> LineParts:
    """Take a line apart behind its stamp; the kernel wrote all of them."""
    found = _RELATIVE.match(line) or _CTIME.match(line) or _ISO.match(line) or _HUMAN.match(line)
    return LineParts("kernel", line[found.end() :] if found is not None else line)


RELATIVE = LineFormat("dmesg", _RELATIVE, _stamp_relative, _split)
CTIME = LineFormat("dmesg -T", _CTIME, _stamp_ctime, _split, of_node=True)
HUMAN = LineFormat("dmesg -H", _HUMAN, _stamp_human, _split, yearless=True, of_node=True)
ISO = LineFormat("dmesg --time-format iso", _ISO, stamps_in(_ISO), _split)
