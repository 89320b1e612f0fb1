"""Syslog with ISO 8601 stamps: rsyslog's `FileFormat`, `journalctl -o short-iso` and `short-full`.

`2022-02-11T09:49:03.123456+08:00 node-7 systemd[1]: ...`; `Fri 2022-02-11 09:49:03 CST node-7
systemd[1]: ...`
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, Split
from podpath.timeline.formats.syslog import HEADINGS
from podpath.timeline.lines import LineFormat, ReadStamp, split_tagged
from podpath.timeline.stamps import WallClock

_ISO: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_TAGGED: Final = re.compile(
    rf"(?:<\d{{1,3}}>)?(?P<stamp>{_ISO}) (?=[\w.:-]+ [^\s:\[]+(?:\[[^\]\s]*\])?:(?: |$))"
)
_FULL: Final = re.compile(
    r"[A-Z][a-z]{2} (?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?)"
    r"(?P<zone> (?:[A-Z]{2,5}|[+-]\d\d(?:\d\d)?))? (?=[\w.-]+ \S)"
)


_HOURS: Final = re.compile(r" [+-]\d\d")
_MICROSECONDS: Final = 32
"""Characters of a stamp of rsyslog: a fraction of six digits, and an offset."""


class _IsoStamps:
    """Reads the stamps of one log. The start of each hour is asked for once."""

    __slots__ = ("_hours", "_wall")

    def __init__(self, clock: Clock) -> None:
        self._wall = WallClock(clock.zone)
        self._hours: dict[str, float] = {}

    def read(self, line: str) -> float | None:
        """Return the time of a line."""
        hour = self._hours.get(line[:14] + line[26:33])
        digits = line[14:16] + line[17:19] + line[20:26]
        if hour is None or line[16:20:3] != ":." or not digits.isdecimal():
            return self._read_new(line)
        number = int(digits)
        minute, rest = divmod(number, 100_000_000)
        if minute < 60 and rest < 61_000_000:
            return hour + minute * 60 + rest * 1e-6
        return None

    def _read_new(self, line: str) -> float | None:
        found = _TAGGED.match(line)
        stamp = self._wall.match(line, found.start("stamp")) if found is not None else None
        if found is None or stamp is None:
            return None
        if found.start("stamp") == 0 and found.end("stamp") == _MICROSECONDS and line[19] == ".":
            seconds = int(line[14:16]) * 60 + int(line[17:19]) + int(line[20:26]) * 1e-6
            if len(self._hours) > 10_000:
                self._hours.clear()
            self._hours[line[:14] + line[26:33]] = stamp.time - seconds
        return stamp.time


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    del source
    return _IsoStamps(clock).read


def _stamp_full(source: Source, clock: Clock) -> ReadStamp:
    del source
    wall = WallClock(clock.zone)

    def read(line: str) -> float | None:
        found = _FULL.match(line)
        if found is not None:
            stamp = wall.match(_spell_offset(line, found), found.start("stamp"))
        else:
            stamp = None
        return stamp.time if stamp is not None else None

    return read


def _spell_offset(line: str, found: re.Match[str]) -> str:
    """Return a line to the end of its stamp, an offset of hours alone with its minutes."""
    return line[: found.end("zone" if found["zone"] else "stamp")] + (
        "00" if _HOURS.fullmatch(found["zone"] or "") else ""
    )


def _split(_: Source) -> Split:
    return take_apart


def take_apart(line: str) -> LineParts:
    """Take a line apart behind its stamp."""
    found = _TAGGED.match(line) or _FULL.match(line)
    return split_tagged(line[found.end() :] if found is not None else line)


FORMAT = LineFormat("syslog with ISO stamps", _TAGGED, _stamp, _split, headings=HEADINGS)
FULL = LineFormat(
    "journalctl -o short-full", _FULL, _stamp_full, _split, headings=HEADINGS, of_node=True
)
