"""Several logs of one node read together: each tells what the others leave out.

A log whose stamps name the year places those that do not; a stamp with its zone within a message
tells the zone of the stamp before it; lines of the kernel in syslog tell when it booted, and so
place `dmesg`.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, timedelta, timezone, tzinfo
from statistics import median
from typing import NamedTuple

from podpath.net.provenance import Gap, Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LogReading
from podpath.timeline.formats.dmesg import BootCounter, count_boots, seconds_of, take_apart
from podpath.timeline.formats.table import LogFormat, recognise_log
from podpath.timeline.moments import Reach
from podpath.timeline.stamps import WallClock

_HALF_YEAR = 183 * 86_400.0
_SLACK = 86_400.0
_SAMPLED = 400
"""Lines with a stamp within that are compared: they agree, or they are of several processes."""
_QUARTER = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """The logs of one node."""

    readings: tuple[LogReading, ...]
    reach: Reach | None = None
    """From when to when they reach, histories of packages only where nothing else does; None where
    no event has a time.
    """
    spans: tuple[Reach, ...] = ()
    """The same of each log that is written all the time."""
    unplaced: bool = False
    """True where some event has no time."""
    notes: tuple[str, ...] = ()
    """What was derived to read them, for those who doubt it."""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """All lines that could not be read."""
        return tuple(gap for reading in self.readings for gap in reading.gaps)


def reach_of(readings: Iterable[LogReading]) -> Reach | None:
    """Return the first and the last moment of these logs; None where no event has a time."""
    spans = [span for reading in readings if (span := _span(reading)) is not None]
    return (
        Reach(min(span.first for span in spans), max(span.last for span in spans))
        if spans
        else None
    )


def _span(reading: LogReading) -> Reach | None:
    placed = [time for time in reading.times if time == time]  # noqa: PLR0124 - NaN is not itself: the quickest way to ask a million
    return Reach(min(placed), max(placed)) if placed else None


def read_logs(sources: Sequence[Source], clock: Clock) -> Logs:
    """Read those sources that are logs. Never raises for what they hold."""
    found: list[_Log] = []
    for source in sources:
        row = recognise_log(source)
        if row is not None:
            found.append(_Log(source, row, clock.of(source.name)))
    readings: dict[int, LogReading] = {}
    for place, log in enumerate(found):
        if not log.row.yearless and not log.row.of_node and log.row.name != _RING:
            readings[place] = log.row.read(log.source, log.clock)
    reference = _reference(found, readings, clock)
    inferred = _infer_zones(found, clock, reference)
    zones = set(inferred.values())
    host = next(iter(zones)) if len(zones) == 1 else None
    for place, log in enumerate(found):
        if place not in readings and log.row.name != _RING:
            hosts = host if log.row.of_node and log.clock is clock else None
            zone = inferred.get(place) or hosts or log.clock.zone
            told = replace(log.clock, now=_taken(log.source, reference), zone=zone)
            readings[place] = log.row.read(log.source, told)
    kernel = _kernel_lines(readings.values())
    for place, log in enumerate(found):
        if log.row.name == _RING:
            told = replace(clock, boots=_infer_boots(log.source, kernel, clock))
            readings[place] = log.row.read(log.source, told)
    notes = (
        f"{found[place].source.name}: time stamps within its messages show that its own are in "
        f"{zone}."
        for place, zone in inferred.items()
    )
    return _gather(found, [readings[place] for place in sorted(readings)], notes)


def _infer_zones(found: Sequence[_Log], clock: Clock, reference: float) -> dict[int, tzinfo]:
    """Return the zones of those logs whose own messages tell them, by their places."""
    zones: dict[int, tzinfo] = {}
    for place, log in enumerate(found):
        if log.row.yearless and log.clock is clock:
            zone = _infer_zone(log, reference)
            if zone is not None:
                zones[place] = zone
    return zones


class _Log(NamedTuple):
    """A source that is a log, with its format, and its clock as far as the caller tells it."""

    source: Source
    row: LogFormat
    clock: Clock


_RING = "dmesg"


def _taken(source: Source, reference: float) -> float:
    """Return when a log was taken at the latest; a source that says 1970 says nothing."""
    return min(source.taken_at + _SLACK, reference) if source.taken_at else reference


def _gather(found: Sequence[_Log], readings: Sequence[LogReading], notes: Iterable[str]) -> Logs:
    spans = tuple(
        span
        for log, reading in zip(found, readings, strict=True)
        if not log.row.sparse and (span := _span(reading)) is not None
    )
    reach = (
        Reach(min(span.first for span in spans), max(span.last for span in spans))
        if spans
        else reach_of(readings)
    )
    unplaced = any(math.isnan(sum(reading.times)) for reading in readings)
    return Logs(
        readings=tuple(readings),
        reach=reach,
        spans=spans,
        unplaced=unplaced,
        notes=tuple(dict.fromkeys(notes)),
    )


def _reference(found: Sequence[_Log], readings: dict[int, LogReading], clock: Clock) -> float:
    """Return the moment that missing years count back from: some months after the end of logs that
    name the year.
    """
    dense = [reading for place, reading in readings.items() if not found[place].row.sparse]
    reach = reach_of(dense)
    return clock.now if reach is None else min(clock.now, reach.last + _HALF_YEAR)


_NESTED = re.compile(
    r'(?:time=|ts=|"(?:ts|time|timestamp)":|\[)\\*"?(?=\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?'
    r"(?:Z|[+-]\d\d:?\d\d))"
)


def _infer_zone(log: _Log, now: float) -> tzinfo | None:
    """Return the zone of a log by the stamps with a zone in its messages; None where there are
    none, or they differ.
    """
    pairs = _find_nested(log.source)
    if not pairs:
        return None
    lines = tuple(line for line, _ in pairs)
    sample = Source(name=log.source.name, lines=lines, taken_at=log.source.taken_at)
    outer = log.row.read(sample, replace(log.clock, now=now, zone=UTC))
    if len(outer.times) != len(pairs):
        return None
    offsets: Counter[int] = Counter()
    for wall, (_, inner) in zip(outer.times, pairs, strict=True):
        apart = wall - inner
        if abs(apart) < 86_400:  # NaN is not less
            offset = round(apart / _QUARTER) * _QUARTER
            offsets[offset] += abs(apart - offset) <= 5
    (offset, count), *_ = offsets.most_common(1) or [(0, 0)]
    if not count or count < 0.8 * len(pairs):
        return None
    return timezone(timedelta(seconds=offset))


def _find_nested(source: Source) -> list[tuple[str, float]]:
    """Return some lines whose messages have a stamp with a zone, each with that moment."""
    nested = [
        line
        for line in source.lines
        if "time=" in line or '"ts"' in line or "[20" in line or '"time' in line
    ]
    utc = WallClock(UTC)
    pairs: list[tuple[str, float]] = []
    for line in nested[:_SAMPLED]:
        inner = _NESTED.search(line[:1000])
        stamp = utc.match(line[:1000], inner.end()) if inner is not None else None
        if stamp is not None:
            pairs.append((line, stamp.time))
    return pairs


def _kernel_lines(readings: Iterable[LogReading]) -> dict[str, list[float]]:
    """Return when syslog has each message of the kernel."""
    times: dict[str, list[float]] = defaultdict(list)
    for reading in readings:
        lines = reading.source.lines
        if not any(" kernel: " in line for line in lines[:5000]):
            continue
        for event in _kernel_events(reading):
            times[event[0]].append(event[1])
    return times


def _kernel_events(reading: LogReading) -> Iterator[tuple[str, float]]:
    for event in reading.events:
        if event.program == "kernel" and event.placed:
            yield event.message.strip(), event.time


def _infer_boots(
    source: Source, kernel: dict[str, list[float]], clock: Clock
) -> tuple[float | None, ...]:
    """Return when each boot of a ring buffer was: by messages that syslog has once, too; the
    caller's word for the last one.
    """
    boots: list[list[float]] = [[] for _ in range(count_boots(source.lines))]
    counter = BootCounter()
    seen: Counter[str] = Counter()
    offsets: list[tuple[int, str, float]] = []
    for line in source.lines:
        seconds = seconds_of(line)
        if seconds is not None:
            message, boot = take_apart(line).message.strip(), counter.count(seconds)
            seen[message] += 1
            offsets += [(boot, message, time - seconds) for time in kernel.get(message, ())]
    for boot, message, offset in offsets:
        if seen[message] == 1 and len(kernel[message]) == 1:
            boots[boot].append(offset)
    told: list[float | None] = [median(found) if found else None for found in boots]
    if told and told[-1] is None and clock.boots:
        told[-1] = clock.boots[-1]
    return tuple(told)
