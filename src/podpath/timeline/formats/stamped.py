"""Formats of `stamped.toml`: a pattern of how their lines begin says where the time stamp stands,
who wrote a line, and where its message begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from podpath.net.provenance import Source
from podpath.net.word_file import read_word_file
from podpath.timeline.clock import Clock, to_wall
from podpath.timeline.event import UNPLACED, LineParts, Split
from podpath.timeline.lines import LineFormat, ReadStamp
from podpath.timeline.origins import name_origin
from podpath.timeline.stamps import MONTHS, WallClock, parse_zone
from podpath.timeline.years import first_year, turn

_DAY = 86_400.0
_BACK = 12 * 3600
"""Seconds that a time of day falls back by where a day has begun: less is disorder."""


_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which number on it counts smaller units than seconds, and how many of them a second has."""
_LEAPS = 10
"""Seconds of TAI ahead of the epoch, as multilog and svlogd add them, whatever has leapt since."""


class _Fields(NamedTuple):
    """What a stamp says, as it says it."""

    year: int
    """0 where it names none."""
    month: int
    """0 where it names no date."""
    day: int
    hour: int
    minute: int
    second: float
    zone: str


def _read_fields(found: re.Match[str], *, day_first: bool = False) -> _Fields | None:
    """Take a stamp apart; None where its month or hour is none."""
    said = {name.rstrip("23"): value for name, value in found.groupdict().items() if value}
    month, day = said.get("month", "0"), int(said.get("day", 0))
    if "first" in said:
        first, other = said["first"], said["other"]
        swapped = day_first or said["between"] == "." or int(first) > 12
        month, day = (other, int(first)) if swapped else (first, int(other))
    number = int(month) if month.isdecimal() else MONTHS.get(month) or _read_month(month)
    year = int(said.get("year", 0))
    if "ordinal" in said:
        counted = _count_day(year, int(said["ordinal"]))
        number, day = (counted.month, counted.day) if counted is not None else (None, 0)
    if number is None or number > 12:
        return None
    hour = int(said["hour"])
    if "half" in said:
        hour = hour % 12 + (12 if said["half"] in "PMpm" else 0)
    second = said.get("second", "0").replace(",", ".").replace(":", ".")
    return _Fields(
        year + 2000 if "year" in said and year < 100 else year,
        number,
        day,
        hour,
        int(said["minute"]),
        float(second),
        said.get("zone", ""),
    )


def _count_day(year: int, ordinal: int) -> date | None:
    """Return a year's day by its number from 1; None where the year has no such day."""
    try:
        found = date(year, 1, 1) + timedelta(days=ordinal - 1)
    except (ValueError, OverflowError):
        return None
    return found if found.year == year else None


def _read_month(name: str) -> int | None:
    """Return the number of a month in one of the languages of the table; None where it is none."""
    if name.endswith("\u6708"):
        return int(name[:-1])
    word = name.rstrip(".").lower()
    return next((at for at, words in enumerate(_MONTHS, 1) if word in words.split()), None)


class _Stamps:
    """Reads the stamps of one log, and counts years or days as it goes."""

    __slots__ = ("_before", "_clock", "_date", "_day_first", "_head", "_walls", "_year")

    def __init__(self, head: re.Pattern[str], source: Source, clock: Clock) -> None:
        self._head, self._clock = head, clock
        self._walls: dict[str, WallClock] = {}
        self._before = 0
        self._day_first = "first" in head.groupindex and any(
            found["between"] == "/" and int(found["first"]) > 12 for found in self._heads(source)
        )
        self._year = 0
        self._date: float | None = None
        if "minute" in head.groupindex:
            self._guess(source)

    def _heads(self, source: Source) -> Iterator[re.Match[str]]:
        found = (self._head.match(line) for line in source.lines)
        return (one for one in found if one is not None)

    def _guess(self, source: Source) -> None:
        """Find the year or the day of the first stamp, where stamps do not name it."""
        read = (_read_fields(found) for found in self._heads(source) if _is_clock(found))
        first = next((one for one in read if one is not None), None)
        if first is None or first.year:
            return
        rest = [first, *(one for one in read if one is not None)]
        last = rest[-1]
        if first.month:
            months = (one.month for one in rest)
            self._year = first_year(months, (last.month, last.day), self._clock)
        elif (printed := _find_day(source, self._clock)) is not None:
            seconds = [one.hour * 3600 + one.minute * 60 for one in rest]
            turns = sum(before - after > _BACK for before, after in pairwise(seconds))
            wall = to_wall(printed, self._clock.zone)
            early = seconds[-1] > wall.hour * 3600 + wall.minute * 60 + 60
            self._date = printed - (turns + early) * _DAY

    def read(self, line: str) -> float | None:
        """Return the time of a line; None where it has no stamp of the format."""
        found = self._head.match(line)
        if found is None:
            return None
        said = found.groupdict()
        if said.get("epoch"):
            number = float(said["epoch"].replace(",", "."))
            return number / next((unit for least, unit in _UNITS if number > least), 1)
        if said.get("tai"):
            seconds = int(said["tai"], 16) - _LEAPS
            if 0 < seconds < _UNITS[-1][0]:
                return seconds + int(said["nano"], 16) / 1e9
            return None
        if said.get("stamp"):
            stamp = self._wall("").match(line, found.start("stamp"))
            return stamp.time if stamp is not None else None
        if not _is_clock(found):
            return UNPLACED
        fields = _read_fields(found, day_first=self._day_first)
        return self._place(fields) if fields is not None else None

    def _place(self, fields: _Fields) -> float | None:
        year, month, day = fields.year, fields.month, fields.day
        if not month:
            seconds = fields.hour * 3600 + fields.minute * 60
            if self._date is None:
                return UNPLACED
            self._date += _DAY * (self._before - seconds > _BACK)
            self._before = seconds
            wall = to_wall(self._date, self._clock.zone)
            year, month, day = wall.year, wall.month, wall.day
        elif not year:
            self._year += turn(self._before, month)
            self._before, year = month, self._year
        return self._wall(fields.zone).place(
            (year, month, day), fields.hour, fields.minute, fields.second
        )

    def _wall(self, zone: str) -> WallClock:
        if zone not in self._walls:
            self._walls[zone] = WallClock(parse_zone(zone) or self._clock.zone)
        return self._walls[zone]


def _find_day(source: Source, clock: Clock) -> float | None:
    """Return when the log was taken at the latest: at the end of the day that its last `#Date:`
    says, or when the caller says; None where nobody does.
    """
    dates = (line for line in reversed(source.lines) if line.startswith("#Date: "))
    stamp = WallClock(clock.zone).match(next(dates, ""), 7)
    if stamp is None:
        return source.taken_at or clock.printed
    return stamp.time - stamp.time % _DAY + _DAY - 1


def _is_clock(found: re.Match[str]) -> bool:
    """Tell whether the stamp is a time of day."""
    said = found.groupdict()
    return bool(said.get("minute") or said.get("minute2"))


def _make_format(row: Mapping[str, Any]) -> LineFormat:
    head = re.compile(row["head"])
    whole = row.get("whole", False)

    def stamp(source: Source, clock: Clock) -> ReadStamp:
        return _Stamps(head, source, clock).read

    def split(source: Source) -> Split:
        origin = name_origin(source)

        def take_apart(line: str) -> LineParts:
            found = head.match(line)
            if found is None:
                return LineParts(origin, line)
            said = found.groupdict()
            message = line if whole else line[found.end() :]
            return LineParts(said.get("program") or origin, message, said.get("host") or "")

        return take_apart

    headings = row.get("headings")
    loose = row.get("loose", False)
    return LineFormat(
        row["name"],
        head,
        stamp,
        split,
        headings=re.compile(headings) if headings else None,
        wraps=row.get("wraps", False),
        yearless=row.get("yearless", False),
        sparse=loose,
        loose=loose,
    )


_FILE = read_word_file("podpath.timeline.formats", "stamped.toml")
_MONTHS: tuple[str, ...] = tuple(_FILE["months"])
_ROWS = _FILE["formats"]
EARLY: tuple[LineFormat, ...] = tuple(_make_format(row) for row in _ROWS if row.get("early"))
FORMATS: tuple[LineFormat, ...] = tuple(_make_format(row) for row in _ROWS if not row.get("early"))
SHOWN: tuple[str, ...] = tuple(row["shown"] for row in _ROWS)
"""What the manual says of each."""
