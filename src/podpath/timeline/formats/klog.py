"""klog: the log format of Kubernetes components, `W0211 01:12:52.815335       1 prober.go:111]
message`.

The stamp is the wall clock of the process, which in containers is UTC as a rule, and names no year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, ReadStamp
from podpath.timeline.origins import name_origin
from podpath.timeline.stamps import WallClock
from podpath.timeline.years import first_year, turn

_HEAD: Final = re.compile(
    r"[IWEF](?P<month>\d\d)(?P<day>\d\d) (?P<hour>\d\d):(?P<minute>\d\d):"
    r"(?P<second>\d\d\.\d{1,9}) +(?P<thread>\d+) (?P<file>[^\s\]:]+):(?P<line>\d+)\] ?"
)


class _KlogStamps:
    __slots__ = ("_month", "_wall", "_year")

    def __init__(self, source: Source, clock: Clock) -> None:
        self._wall = WallClock(clock.zone)
        self._month = 0
        days = [(int(found["month"]), int(found["day"])) for found in _heads(source.lines)]
        self._year = (
            first_year((month for month, _ in days), days[-1], clock) if days else clock.today.year
        )

    def read(self, line: str) -> float | None:
        found = _HEAD.match(line)
        if found is None:
            return None
        month = int(found["month"])
        if not 1 <= month <= 12:
            return None
        self._year += turn(self._month, month)
        self._month = month
        return self._wall.place(
            (self._year, month, int(found["day"])),
            int(found["hour"]),
            int(found["minute"]),
            float(found["second"]),
        )


def _heads(lines: Sequence[str]) -> Iterator[re.Match[str]]:
    """Yield the stamps where the date changes, and the last one."""
    before = ""
    for line in lines:
        if line[1:5] != before:
            found = _HEAD.match(line)
            if found is not None and 1 <= int(found["month"]) <= 12:
                before = line[1:5]
                yield found


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    return _KlogStamps(source, clock).read


def _split(source: Source) -> Split:
    origin = name_origin(source)

    def take_apart(line: str) -> LineParts:
        found = _HEAD.match(line)
        if found is not None:
            return LineParts(origin, line[found.end() :])
        return LineParts(origin, line)

    return take_apart


FORMAT = LineFormat("klog", _HEAD, _stamp, _split, wraps=True, yearless=True)
