"""What a log says happened, and when: the values that everything in `timeline` speaks.

A log of a million lines is read for its stamps alone; who wrote a line and what it says is taken
apart when it is asked for, since only the lines round a failure ever are.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

from podpath.net.provenance import Gap, Source, Span

UNPLACED = math.nan
"""The time of an event that no clock places: an age without the moment it was printed, a kernel
stamp without the boot's time.
"""
_REPEATED = re.compile(
    r"(?:last )?message repeated (?P<count>\d{1,9}) times?(?:: ?\[ ?(?P<inner>.*?)\]?)?\s*$"
)


class LineParts(NamedTuple):
    """A line of a log taken apart."""

    program: str
    """Who wrote it, as the log spells it without its process id: `systemd`, `kernel`, `kubelet`;
    empty where it is not said.
    """
    message: str
    host: str = ""
    repeats: int = 1
    """How often it happened."""
    since: float | None = None
    """When it first happened, where the line tells of several times."""


class LogEvent(NamedTuple):
    """Something that a log says happened."""

    time: float
    """Seconds since the epoch; `UNPLACED` where they are not known."""
    span: Span
    program: str
    message: str
    host: str = ""
    repeats: int = 1
    since: float | None = None

    @property
    def placed(self) -> bool:
        """Tell whether it is known when it happened."""
        return not math.isnan(self.time)


Split = Callable[[str], LineParts]
"""Takes a line apart. It is only given lines whose stamp was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReading:
    """What was made of one log: each line that is not blank belongs to an event, a gap or a
    heading.
    """

    source: Source
    events: Sequence[LogEvent]
    """In the order of the log."""
    times: Sequence[float]
    """Their times, in the same order."""
    gaps: tuple[Gap, ...] = ()
    headings: tuple[Span, ...] = ()
    """Lines that belong to the format and tell of nothing: titles of columns, `-- Logs begin
    at`.
    """


class LineEvents(Sequence[LogEvent]):
    """Events of a log that has one on each line, taken apart when they are asked for."""

    __slots__ = ("_ends", "_foreign", "_source", "_split", "_starts", "times")

    def __init__(self, source: Source, split: Split, places: EventPlaces) -> None:
        """Hold where the events stand in the source."""
        self._source = source
        self._split = split
        self._starts = places.starts
        self._ends = places.ends
        self._foreign = places.foreign
        self.times = places.times

    @property
    def starts(self) -> Sequence[int]:
        """The indices of the lines that the events start at."""
        return self._starts

    def __len__(self) -> int:
        """Count them."""
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> LogEvent: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[LogEvent]: ...
    def __getitem__(self, index: int | slice) -> LogEvent | Sequence[LogEvent]:
        """Take an event's line apart; a line that repeats the one before it says what that one
        said.
        """
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        start = self._starts[place]
        first = self._source.first_line
        span = Span(self._source, first + start, first + self._ends.get(place, start))
        parts = self._parts(place)
        return LogEvent(
            self.times[place],
            span,
            parts.program,
            parts.message,
            parts.host,
            parts.repeats,
            parts.since,
        )

    def _parts(self, place: int) -> LineParts:
        parts = self._foreign.get(place, self._split)(self._source.lines[self._starts[place]])
        found = _REPEATED.match(parts.message) if "repeated" in parts.message else None
        if found is None:
            return parts
        repeats = int(found["count"])
        if found["inner"]:
            return parts._replace(message=found["inner"], repeats=repeats)
        for before in range(place - 1, max(place - _REPEAT_REACH, -1), -1):
            earlier = self._foreign.get(before, self._split)(
                self._source.lines[self._starts[before]]
            )
            if _REPEATED.match(earlier.message) is None:
                return LineParts(earlier.program, earlier.message, earlier.host, repeats)
        return parts._replace(repeats=repeats)


_REPEAT_REACH = 20
"""How far back the repeated message is looked for: several reports of one message may follow each
other.
"""


@dataclass(slots=True, kw_only=True)
class EventPlaces:
    """Where the events of a log stand. Mutable while the log is read, and local to its reader."""

    starts: array[int]
    """Indices of the lines that they start at."""
    times: array[float]
    ends: dict[int, int]
    """Of events that have several lines: the index of the last one, by the event's index."""
    foreign: Mapping[int, Split]
    """Events in lines of another format than the log's, by their index."""
