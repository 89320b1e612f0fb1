"""The reader of logs that have a stamp on each line, whatever the stamp looks like.

A format says how its stamp is read and how its lines are taken apart; everything else is the same:
what wraps, what is a heading, and that a line of another format (a log in which somebody pasted
another one) is still read.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

from podpath.net.provenance import Gap, Source, Span
from podpath.timeline.clock import Clock
from podpath.timeline.event import EventPlaces, LineEvents, LineParts, LogReading, Split
from podpath.timeline.origins import name_origin
from podpath.timeline.stamps import WallClock

ReadStamp = Callable[[str], float | None]
"""Gives the time of a line; None where the line has no stamp of the format."""
LINE_WIDTH = 2000
"""Longer than any line whose shape matters: what stands behind it is still quoted with the
source.
"""


_NUMBERS = re.compile(r".{0,240}?(?:\d[:.]\d\d|\d{6}|\[ *[+\d])", re.DOTALL)
"""What every stamp has: most lines of a stack's trace do not."""


class LineFormat(NamedTuple):
    """A format whose lines have stamps."""

    name: str
    """As the tool or the standard calls it: `syslog`, `klog`."""
    shape: re.Pattern[str]
    """What a line of it starts with: it recognizes the format, cheaply."""
    stamp: Callable[[Source, Clock], ReadStamp]
    """Makes the reader of stamps for one log."""
    split: Callable[[Source], Split]
    """Makes what takes a line of that log apart."""
    headings: re.Pattern[str] | None = None
    wraps: bool = False
    """True where a message may go on in lines without a stamp: the trace of a stack."""
    yearless: bool = False
    """True where stamps name no year."""
    of_node: bool = False
    """True where the node itself writes it, in its own zone, and does not name that."""
    sparse: bool = False
    """True where weeks may lie between two events: the last of them does not tell when the log was
    taken.
    """
    loose: bool = False
    """True where its stamp may stand anywhere: a line of another log is never taken for one of
    it.
    """


def split_behind(head: re.Pattern[str]) -> Callable[[Source], Split]:
    """Return what parts lines behind their head, in logs that name no program."""

    def make(source: Source) -> Split:
        origin = name_origin(source)

        def take_apart(line: str) -> LineParts:
            found = head.match(line)
            return LineParts(origin, line[found.end() :] if found is not None else line)

        return take_apart

    return make


def stamps_in(head: re.Pattern[str], *groups: str) -> Callable[[Source, Clock], ReadStamp]:
    """Make the `stamp` of formats whose head has an ISO stamp in one of these groups; without
    groups, at its beginning.
    """

    def make(source: Source, clock: Clock) -> ReadStamp:
        del source
        wall = WallClock(clock.zone)

        def read(line: str) -> float | None:
            found = head.match(line)
            if found is not None:
                stamp = wall.match(line, max(map(found.start, groups), default=0))
            else:
                stamp = None
            return stamp.time if stamp is not None else None

        return read

    return make


def read_lines(
    source: Source, clock: Clock, own: LineFormat, others: Sequence[LineFormat] = ()
) -> LogReading:
    """Read a log line by line; lines of the other formats are read as such. Never raises."""
    stamp = own.stamp(source, clock)
    places = EventPlaces(starts=array("L"), times=array("d"), ends={}, foreign={})
    starts, times = places.starts, places.times
    account = _Account(source, clock, own, others, places)
    for index, line in enumerate(source.lines):
        time = stamp(line)
        if time is not None:
            starts.append(index)
            times.append(time)
        elif line and not line.isspace():
            account.take(index, line)
    events = LineEvents(source, own.split(source), places)
    return LogReading(
        source=source,
        events=events,
        times=times,
        gaps=tuple(account.gaps),
        headings=tuple(account.headings),
    )


class _Account:
    """Finds a place for every line without a stamp of the format. Local to `read_lines`."""

    def __init__(
        self,
        source: Source,
        clock: Clock,
        own: LineFormat,
        others: Sequence[LineFormat],
        places: EventPlaces,
    ) -> None:
        self.gaps: list[Gap] = []
        self.headings: list[Span] = []
        self._source = source
        self._clock = clock
        self._own = own
        self._others = others
        self._places = places
        self._foreign: dict[int, Split] = {}
        places.foreign = self._foreign
        self._readers: dict[str, tuple[ReadStamp, Split]] = {}
        self._last_refused = -1

    def take(self, index: int, line: str) -> None:
        """Keep a line as a heading, as a line of another format, as the rest of the event above, or
        as a gap.
        """
        number = self._source.first_line + index
        cut = line[:LINE_WIDTH]
        if self._own.headings is not None and self._own.headings.match(cut) is not None:
            self.headings.append(Span(self._source, number, number))
            self._last_refused = index
        elif self._take_foreign(index, cut):
            return
        elif self._goes_on(cut):
            self._places.ends[len(self._places.starts) - 1] = index
        else:
            why = f"expected a line of {self._own.name} with its stamp, saw none"
            self.gaps.append(Gap(Span(self._source, number, number), why))
            self._last_refused = index

    def _goes_on(self, line: str) -> bool:
        """Tell whether a line without a stamp belongs to the event above it: no gap or heading
        stands between them.
        """
        if not len(self._places.starts) or self._last_refused >= self._places.starts[-1]:
            return False
        return self._own.wraps or line[0] in " \t"

    def _take_foreign(self, index: int, line: str) -> bool:
        if _NUMBERS.match(line) is None:
            return False
        for other in self._others:
            if other is self._own or other.loose or other.shape.match(line) is None:
                continue
            if other.name not in self._readers:
                self._readers[other.name] = (
                    other.stamp(self._source, self._clock),
                    other.split(self._source),
                )
            stamp, split = self._readers[other.name]
            time = stamp(self._source.lines[index])
            if time is not None:
                self._foreign[len(self._places.starts)] = split
                self._places.starts.append(index)
                self._places.times.append(time)
                return True
        return False


_TAG = re.compile(
    r"(?P<program>[^\s:\[]{1,100})(?:\[(?P<pid>[^\]\s]{1,40})\])?: ?(?P<message>.*)", re.DOTALL
)
_KERNEL_CLOCK = re.compile(r"\[ *\d+\.\d+\] ?")


def split_tagged(text: str) -> LineParts:
    """Take `HOST PROGRAM[PID]: MESSAGE` apart, as syslog daemons and journalctl print it; the host
    may be left out.
    """
    host, _, rest = text.partition(" ")
    if host.endswith(":") or "[" in host:
        host, rest = "", text
    found = _TAG.match(rest)
    if found is None:
        return LineParts("", rest, host)
    message = found["message"]
    if found["program"] == "kernel":
        message = _KERNEL_CLOCK.sub("", message, count=1)
    return LineParts(found["program"], message, host)
