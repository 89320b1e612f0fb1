"""Stamps of logs to seconds since the epoch: wall-clock stamps with and without zone, and the cache
that makes them cheap.

A wall clock is asked for the start of an hour, once; minutes and seconds are added, so that a
switch to summer time counts from its hour on.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple

MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
_HOURS = {
    "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3,
    "SAST": 2, "PKT": 5, "WIB": 7, "HKT": 8, "SGT": 8, "AWST": 8, "JST": 9, "KST": 9, "AEST": 10,
    "AEDT": 11, "NZST": 12, "NZDT": 13, "EDT": -4, "EST": -5, "CDT": -5, "MDT": -6, "MST": -7,
    "PDT": -7, "PST": -8, "AKDT": -8, "AKST": -9, "HST": -10,
}  # fmt: skip
"""Names of zones that stamps print, with their hours east of Greenwich."""
SHARED = {"CST": (-6.0, 8.0), "IST": (5.5, 2.0, 1.0), "BST": (1.0, 6.0), "AST": (-4.0, 3.0)}
"""Names that several zones share: America's and China's, India's and Israel's and Ireland's,
Britain's and Bangladesh's, the Atlantic's and Arabia's.
"""
_ISO = re.compile(
    r"(?P<hour>(\d{4})([-/])(\d\d)\3(\d\d)[T ](\d\d)):(?P<minute>\d\d)(?::(?P<second>\d\d)"
    r"(?P<fraction>[.,]\d{1,9}|:\d{3}(?!\d))?)?(?P<zone> ?(?:Z\b|[+-]\d\d:?\d\d)|Z| ?(?:"
    rf"{'|'.join((*_HOURS, *SHARED))})\b)?"
)
_OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)")
_MOST = 4096
"""Hours that are kept: half a year, and a bound on what a file of garbage may cost."""


class Stamp(NamedTuple):
    """A stamp that was read."""

    time: float
    end: int
    """Where in the line the stamp ends."""


class WallClock:
    """Places wall-clock stamps in a zone. Remembers the hours it was asked for."""

    __slots__ = ("_hours", "_starts", "zone")

    def __init__(self, zone: tzinfo) -> None:
        """Start with no hour known."""
        self.zone = zone
        self._hours: dict[tuple[str, str], float | None] = {}
        self._starts: dict[tuple[int, int, int, int], float | None] = {}

    def place(
        self, date: tuple[int, int, int], hour: int, minute: int, second: float
    ) -> float | None:
        """Return the moment of a date and time; None where there is no such date."""
        key = (*date, hour)
        if key not in self._starts:
            if len(self._starts) >= _MOST:
                self._starts.clear()
            self._starts[key] = start_of_hour(date, hour, self.zone)
        start = self._starts[key]
        if start is None or minute > 59 or second > 61:
            return None
        return start + minute * 60 + second

    def match(self, line: str, start: int = 0) -> Stamp | None:
        """Read an ISO 8601 stamp (also with `/` and a blank, as programs write it) at a column;
        None where none stands there.
        """
        found = _ISO.match(line, start)
        if found is None:
            return None
        key = (found["hour"], found["zone"] or "")
        if key not in self._hours:
            if len(self._hours) >= _MOST:
                self._hours.clear()
            self._hours[key] = self._hour(found)
        hour = self._hours[key]
        minute, second = int(found["minute"]), int(found["second"] or 0)
        if hour is None or minute > 59 or second > 61:
            return None
        fraction = found["fraction"]
        return Stamp(
            hour + minute * 60 + second + (float("0." + fraction[1:]) if fraction else 0.0),
            found.end(),
        )

    def _hour(self, found: re.Match[str]) -> float | None:
        name = (found["zone"] or "").strip()
        zone = self.zone if not name or name in SHARED else parse_zone(name)
        if zone is None:
            return None
        return start_of_hour((int(found[2]), int(found[4]), int(found[5])), int(found[6]), zone)


def start_of_hour(date: tuple[int, int, int], hour: int, zone: tzinfo) -> float | None:
    """Return the moment that an hour of a date starts; None where there is no such date."""
    try:
        return datetime(*date, hour, tzinfo=zone).timestamp()
    except (ValueError, OverflowError):
        return None


def parse_zone(name: str) -> tzinfo | None:
    """Read a zone as stamps name it (`Z`, `+08:00`, `CEST`); None where several zones share the
    name (`CST`), or none has it.
    """
    hours = _HOURS.get(name)
    if hours is None:
        return parse_offset(name)
    return timezone(timedelta(hours=hours))


def parse_offset(text: str) -> tzinfo | None:
    """Read a zone as stamps name it (`Z`, `UTC`, `+08:00`); None where it is a name that several
    zones share (`CST`).
    """
    if text in {"Z", "UTC", "GMT"}:
        return UTC
    found = _OFFSET.fullmatch(text)
    if found is None:
        return None
    offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
    if offset >= timedelta(hours=24):
        return None
    return timezone(-offset if found["sign"] == "-" else offset)
