"""/var/log/apt/history.log: one block for each run, with its packages in lists; each run is an
event at its start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from podpath.net.provenance import Gap, Source, Span
from podpath.timeline.clock import Clock
from podpath.timeline.event import LogEvent, LogReading
from podpath.timeline.formats.block import close_account
from podpath.timeline.stamps import WallClock

_FIELD: Final = re.compile(
    r"(?P<key>Start-Date|End-Date|Commandline|Requested-By|Install|Reinstall|Upgrade|Downgrade|"
    r"Remove|Purge|Error|Comment): ?(?P<value>.*)"
)
_DATE: Final = re.compile(r"(?P<date>\d{4}-\d\d-\d\d) +(?P<time>\d\d:\d\d:\d\d)")
_PACKAGE: Final = re.compile(r"(?P<name>[a-z0-9][a-z0-9.+-]*)(?::\w+)? \((?P<versions>[^)]*)\)")
_VERBS: Final = {
    "Install": "install",
    "Reinstall": "install",
    "Upgrade": "upgrade",
    "Downgrade": "downgrade",
    "Remove": "remove",
    "Purge": "purge",
}


def recognise(lines: Sequence[str]) -> float:
    """Recognize a run by its dates."""
    fields = sum(_FIELD.match(line) is not None for line in lines)
    if any(line.startswith(("Start-Date: ", "End-Date: ")) for line in lines):
        return fields / len(lines)
    return 0.0


def read(source: Source, clock: Clock) -> LogReading:
    """Read the runs: an event for each package, all of them with the lines of the run, or one for a
    run that names none.
    """
    wall = WallClock(clock.zone)
    events: list[LogEvent] = []
    gaps: list[Gap] = []
    for first, last in _runs(source.lines):
        found = ((index, _FIELD.match(source.lines[index])) for index in range(first, last + 1))
        fields = {
            field["key"]: (index, field["value"]) for index, field in found if field is not None
        }
        time = _time(fields, wall)
        if time is None:
            span = Span(source, source.first_line + first, source.first_line + last)
            gaps.append(Gap(span, "expected a run of apt with its date, saw none"))
        else:
            events += _events(source, fields, time)
    return close_account(source, events, gaps)


def _runs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each run: blank lines or a new start end it."""
    start: int | None = None
    for index, line in enumerate(lines):
        blank = not line or line.isspace()
        if start is not None and (blank or line.startswith("Start-Date: ")):
            yield start, index - 1
            start = None
        if not blank and start is None:
            start = index
    if start is not None:
        yield start, len(lines) - 1


def _time(fields: dict[str, tuple[int, str]], wall: WallClock) -> float | None:
    for key in ("Start-Date", "End-Date"):
        found = _DATE.match(fields[key][1]) if key in fields else None
        stamp = wall.match(f"{found['date']} {found['time']}") if found is not None else None
        if stamp is not None:
            return stamp.time
    return None


def _events(source: Source, fields: dict[str, tuple[int, str]], time: float) -> Iterator[LogEvent]:
    """Yield an event for each package that the run dealt with, at the line of its list."""
    told = False
    for key, verb in _VERBS.items():
        if key in fields:
            index, value = fields[key]
            span = Span(source, source.first_line + index, source.first_line + index)
            for package in _PACKAGE.finditer(value):
                told = True
                yield LogEvent(time, span, "apt", f"{verb} {package['name']} {package['versions']}")
    if not told:
        index, command = fields.get("Commandline", (min(place for place, _ in fields.values()), ""))
        yield LogEvent(
            time,
            Span(source, source.first_line + index, source.first_line + index),
            "apt",
            command or "run",
        )
