"""The BSD syslog format (RFC 3164): /var/log/messages, /var/log/syslog, `journalctl` as it prints
by default.

`Feb 11 09:49:03 node-7 systemd[1]: Stopping ...`; journalctl's `short-precise` adds a fraction, RFC
3164 a `<PRI>` before it. The stamp names neither year nor zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, ReadStamp, split_tagged
from podpath.timeline.stamps import MONTHS, WallClock
from podpath.timeline.years import first_year, turn

_STAMP: Final = re.compile(
    r"(?:<\d{1,3}>)?(?P<month>[A-Z][a-z]{2}) (?P<day>[ \d]?\d) (?P<hour>\d\d):(?P<minute>\d\d):"
    r"(?P<second>\d\d)(?P<fraction>\.\d{1,9})?(?= |$)"
)
HEADINGS = re.compile(
    r"-- (?:Logs begin at|Journal begins at|Boot [0-9a-f]{32}|Reboot|No entries|cursor:)"
)
"""What journalctl prints between events. `-- Reboot --` is told by the kernel's first lines,
too.
"""
_WITH_BLANK: Final = 16
"""Characters of a stamp without priority and fraction, and the blank behind it."""


class _SyslogStamps:
    """Reads the stamps of one log, and counts the years as it goes.

    The start of each hour is asked for once; a year can only turn where an hour is new.
    """

    __slots__ = ("_hours", "_last", "_month", "_time", "_wall", "_year")

    def __init__(self, source: Source, clock: Clock) -> None:
        self._wall = WallClock(clock.zone)
        self._hours: dict[str, float] = {}
        self._last, self._time = "", 0.0
        self._month = 0
        last = _last_day(source.lines)
        self._year = (
            first_year(_months(source.lines), last, clock) if last is not None else clock.today.year
        )

    def read(self, line: str) -> float | None:
        """Return the time of a line. Neighboring lines often share their stamp."""
        stamp = line[:_WITH_BLANK]
        if stamp == self._last:
            return self._time
        hour = self._hours.get(stamp[:10])
        digits = stamp[10:12] + stamp[13:15]
        if hour is None or stamp[12:13] != ":" or stamp[15:] != " " or not digits.isdecimal():
            return self._read_new(line)
        number = int(digits)
        if number >= 6000 or number % 100 > 60:
            return None
        self._last, self._time = stamp, hour + number // 100 * 60 + number % 100
        return self._time

    def _read_new(self, line: str) -> float | None:
        found = _STAMP.match(line)
        month = MONTHS.get(found["month"]) if found is not None else None
        if found is None or month is None:
            return None
        turned = turn(self._month, month)
        if turned:
            self._year += turned
            self._hours.clear()
        self._month = month
        hour = self._wall.place((self._year, month, int(found["day"])), int(found["hour"]), 0, 0)
        if hour is None or int(found["minute"]) > 59 or int(found["second"]) > 60:
            return None
        if found.start("month") == 0 and found.end("hour") == 9:
            self._hours[line[:10]] = hour
        time = hour + int(found["minute"]) * 60 + int(found["second"])
        if found["fraction"]:
            return time + float(found["fraction"])
        return time


def _months(lines: Sequence[str]) -> Iterator[int]:
    """Yield the months of neighboring lines, each once as long as it stays."""
    before = ""
    for line in lines:
        name = line[:3] if line[:1] != "<" else line.partition(">")[2][:3]
        if name != before:
            before = name
            if name in MONTHS and _STAMP.match(line):
                yield MONTHS[name]


def _last_day(lines: Sequence[str]) -> tuple[int, int] | None:
    """Return month and day of the last line that has a stamp."""
    for line in reversed(lines):
        found = _STAMP.match(line)
        if found is not None and found["month"] in MONTHS:
            return MONTHS[found["month"]], int(found["day"])
    return None


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    return _SyslogStamps(source, clock).read


def _split(_: Source) -> Split:
    return take_apart


def take_apart(line: str) -> LineParts:
    """Take a line apart behind its stamp."""
    found = _STAMP.match(line)
    return split_tagged(line[found.end() + 1 :] if found is not None else line)


FORMAT = LineFormat(
    "syslog", _STAMP, _stamp, _split, headings=HEADINGS, yearless=True, of_node=True
)
