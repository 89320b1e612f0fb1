"""Several logs of one node read together: each tells what the others leave out.

A log whose stamps name the year places those that do not; a stamp within a message tells the year
of the stamp before it, and its zone where it names its own; lines of the kernel in syslog tell when
it booted, and so place `dmesg`.
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
from podpath.timeline.clock import Clock, to_wall
from podpath.timeline.event import LogReading
from podpath.timeline.formats.dmesg import BootCounter, count_boots, seconds_of, take_apart
from podpath.timeline.formats.table import LogFormat, recognise_log
from podpath.timeline.moments import Reach
from podpath.timeline.stamps import MONTHS, SHARED, WallClock, parse_zone

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
    zone: tzinfo | None = None
    """The zone that the logs show the node to be in; None where they do not, or show several."""
    shared: tuple[tuple[str, str], ...] = ()
    """Logs whose stamps are in a zone of a name that several zones have, which nobody tells apart:
    the name of the log, and of the zone.
    """
    notes: tuple[str, ...] = ()
    """What was derived to read them, for those who doubt it."""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """All lines that could not be read."""
        return tuple(gap for reading in self.readings for gap in reading.gaps)


def reach_of(readings: Iterable[LogReading]) -> Reach | None:
    """Return the first and the last moment of these logs; None where no event has a time."""
    spans = [span for reading in readings if (span := _span(reading)) is not None]
    if spans:
        return Reach(min(span.first for span in spans), max(span.last for span in spans))
    return None


def _span(reading: LogReading) -> Reach | None:
    placed = [time for time in reading.times if time == time]  # noqa: PLR0124 - NaN is not itself: the quickest way to ask a million
    return Reach(min(placed), max(placed)) if placed else None


def read_logs(sources: Sequence[Source], clock: Clock) -> Logs:
    """Read those sources that are logs. Never raises for what they hold."""
    found = [
        _Log(source, row, clock.of(source.name))
        for source in sources
        if (row := recognise_log(source)) is not None
    ]
    readings = {
        place: log.row.read(log.source, log.clock)
        for place, log in enumerate(found)
        if _tells_its_time(log)
    }
    end = reach_of([reading for place, reading in readings.items() if not found[place].row.sparse])
    reference = clock.now if end is None else min(clock.now, end.last + _HALF_YEAR)
    told = _infer_all(found, clock, reference)
    shared: list[tuple[str, str]] = []
    for place, log in enumerate(found):
        if log.row.name == _RING:
            continue
        zone = told.zone_of(place, log, clock)
        if place not in readings or zone is not log.clock.zone:
            now = min([_taken(log.source, reference), *told.last_of(place)])
            printed = log.clock.printed or (end.last if end is not None else None)
            own = replace(log.clock, now=now, zone=zone, printed=printed)
            readings[place] = log.row.read(log.source, own)
        name = told.names.get(place)
        if name is not None and not _is_of(zone, name, reference):
            shared.append((log.source.name, name))
    return _place_rings(found, readings, clock, told, tuple(shared))


def _tells_its_time(log: _Log) -> bool:
    """Tell whether a log's own stamps say when its lines were written: with a year and a zone, and
    not since the kernel's start.
    """
    return not (log.row.yearless or log.row.of_node or log.row.name == _RING)


def _place_rings(
    found: Sequence[_Log],
    readings: dict[int, LogReading],
    clock: Clock,
    told: _Told,
    shared: tuple[tuple[str, str], ...],
) -> Logs:
    """Read the ring buffers by what the other logs say of the kernel, and gather all."""
    kernel = _kernel_lines(readings.values())
    for place, log in enumerate(found):
        if log.row.name == _RING:
            booted = replace(clock, boots=_infer_boots(log.source, kernel, clock))
            readings[place] = log.row.read(log.source, booted)
    notes = (
        f"{found[place].source.name}: its heading, or stamps within its messages, show that its "
        f"own are in {zone}."
        for place, zone in told.zones.items()
    )
    gathered = _gather(found, [readings[place] for place in sorted(readings)], notes)
    return replace(gathered, zone=told.host or _find_stated(found), shared=shared)


class _Told(NamedTuple):
    """What logs tell of their own stamps, by their places."""

    names: dict[int, str]
    """Names of zones that several zones have."""
    zones: dict[int, tzinfo]
    lasts: dict[int, float]
    """Some months after the last moment that a message states."""
    host: tzinfo | None
    """The zone of the node itself."""
    reference: float

    def zone_of(self, place: int, log: _Log, clock: Clock) -> tzinfo:
        """Return the zone of a log's stamps that name none."""
        name = self.names.get(place)
        fits = log.row.of_node or (name is not None and _is_of(self.host, name, self.reference))
        hosts = self.host if fits and log.clock is clock else None
        return self.zones.get(place) or hosts or log.clock.zone

    def last_of(self, place: int) -> tuple[float, ...]:
        """Return the moment that no stamp of a log is later than, where its messages tell one."""
        return (self.lasts[place],) if place in self.lasts else ()


def _infer_all(found: Sequence[_Log], clock: Clock, reference: float) -> _Told:
    names: dict[int, str] = {}
    zones: dict[int, tzinfo] = {}
    lasts: dict[int, float] = {}
    for place, log in enumerate(found):
        name = _find_shared(log.source)
        if name is not None:
            names[place] = name
        if not (log.row.yearless or (log.row.of_node and name is not None)):
            continue
        inferred = _read_heading(log.source, _infer(log, reference))
        if inferred is None:
            continue
        lasts[place] = inferred.last
        if inferred.zone is not None and log.clock is clock and log.row.name != _SEVERAL:
            zones[place] = inferred.zone
    each = set(zones.values())
    host = next(iter(each)) if len(each) == 1 else None
    return _Told(names, zones, lasts, host, reference)


_SHARED = re.compile(rf"\d:\d\d(?:[.,]\d{{1,9}})?(?: [AP]M)? (?P<name>{'|'.join(SHARED)})\b")
_EARLY = 80
"""Characters in which the stamp of a line stands."""


_STATED = re.compile(
    r"\d:\d\d:\d\d(?:[.,]\d{1,9})? ?(?P<zone>Z|[+-]\d\d:?\d\d|[A-Z]{3,4})(?=[\s\],|]|$)"
)
_ENDS = 20
"""Lines at each end of a log whose stamps are asked for their zone."""


def _find_stated(found: Sequence[_Log]) -> tzinfo | None:
    """Return the zone that the stamps of all these logs state, as far as they state any; None where
    they state several.
    """
    zones: set[timedelta | None] = set()
    for log in found:
        for line in (*log.source.lines[:_ENDS], *log.source.lines[-_ENDS:]):
            stated = _STATED.search(line[:_EARLY])
            zone = parse_zone(stated["zone"]) if stated is not None else None
            if zone is not None:
                zones.add(to_wall(0.0, zone).utcoffset())
    (apart,) = zones if len(zones) == 1 else (None,)
    return timezone(apart) if apart else None


def _find_shared(source: Source) -> str | None:
    """Return the name that several zones have, where the stamps of a log bear one."""
    found = (_SHARED.search(line[:_EARLY]) for line in source.lines[:_SAMPLED])
    return next((one["name"] for one in found if one is not None), None)


def _is_of(zone: tzinfo | None, name: str, now: float) -> bool:
    """Tell whether a zone is one of those that share a name."""
    if zone is None:
        return False
    apart = to_wall(now, zone).utcoffset()
    return apart is not None and apart / timedelta(hours=1) in SHARED[name]


class _Inferred(NamedTuple):
    """What the messages of a log tell of its own stamps."""

    zone: tzinfo | None
    last: float
    """Some months after the last moment that a message states: no stamp of the log is later."""


class _Log(NamedTuple):
    """A source that is a log, with its format, and its clock as far as the caller tells it."""

    source: Source
    row: LogFormat
    clock: Clock


_RING = "dmesg"
_SEVERAL = "log behind prefixes"
"""What several programs wrote, each in its own zone."""


def _taken(source: Source, reference: float) -> float:
    """Return when a log was taken at the latest; a source that says 1970 says nothing."""
    if source.taken_at:
        return min(source.taken_at + _SLACK, reference)
    return reference


def _gather(found: Sequence[_Log], readings: Sequence[LogReading], notes: Iterable[str]) -> Logs:
    spans = tuple(
        span
        for log, reading in zip(found, readings, strict=True)
        if not log.row.sparse and (span := _span(reading)) is not None
    )
    reach = reach_of(readings)
    if spans:
        reach = Reach(min(span.first for span in spans), max(span.last for span in spans))
    unplaced = any(math.isnan(sum(reading.times)) for reading in readings)
    return Logs(
        readings=tuple(readings),
        reach=reach,
        spans=spans,
        unplaced=unplaced,
        notes=tuple(dict.fromkeys(notes)),
    )


_NESTED = re.compile(
    r'(?:time=|ts=|"(?:ts|time|timestamp)":|\[)\\*"?(?=\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?'
    r"(?:Z|[+-]\d\d:?\d\d))"
)


_HEADING = re.compile(
    r"-- (?:Logs begin|Journal begins) at \w{3} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+, ends? at \w{3} "
    r"(?P<last>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?P<zone>[A-Z]{3,4}|[+-]\d\d:?\d\d)\. --"
)
"""What journalctl (before version 250) prints first: from when to when its journal goes, in the
zone of the stamps below.
"""


def _read_heading(source: Source, told: _Inferred | None) -> _Inferred | None:
    """Add what journalctl's headings tell of the stamps below them to what messages told: the year,
    and the zone, unless several zones have its name or there are headings of several.
    """
    if not any(_HEADING.match(line) for line in source.lines[:_ENDS]):
        return told
    headings = [
        heading
        for line in source.lines
        if line.startswith("-- ") and (heading := _HEADING.match(line)) is not None
    ]
    names = {heading["zone"] for heading in headings}
    zone = parse_zone(names.pop()) if len(names) == 1 else None
    wall = WallClock(zone or UTC)
    lasts = [stamp.time for one in headings if (stamp := wall.match(one["last"])) is not None]
    if not lasts:
        return told
    return _Inferred(zone or (told.zone if told is not None else None), max(lasts))


def _infer(log: _Log, now: float) -> _Inferred | None:
    """Return what the stamps within a log's messages tell: the year, and the zone where they name
    theirs and agree; None where there are none, or they are of other moments.
    """
    nested = _find_nested(log.source)
    if not nested:
        return None
    last = min(now, max(one.time for one in nested) + _HALF_YEAR)
    lines = tuple(one.line for one in nested)
    sample = Source(name=log.source.name, lines=lines, taken_at=log.source.taken_at)
    outer = log.row.read(sample, replace(log.clock, now=last, zone=UTC))
    if len(outer.times) != len(nested):
        return None
    apart = [wall - one.time for wall, one in zip(outer.times, nested, strict=True)]
    near = sum(abs(seconds) < 86_400 for seconds in apart)  # NaN is not less
    if near < _MOSTLY * len(nested):
        return None
    zoned = [seconds for seconds, one in zip(apart, nested, strict=True) if one.zoned]
    return _Inferred(_agree(zoned), last)


def _agree(apart: Sequence[float]) -> tzinfo | None:
    """Return the zone that most of these differences to UTC are of; None where most are of none."""
    offsets: Counter[int] = Counter()
    for seconds in apart:
        offset = round(seconds / _QUARTER) * _QUARTER if abs(seconds) < 86_400 else 0
        offsets[offset] += abs(seconds - offset) <= 5
    (offset, count), *_ = offsets.most_common(1) or [(0, 0)]
    if not count or count < _MOSTLY * len(apart):
        return None
    return timezone(timedelta(seconds=offset))


def _may_hold_stamp(line: str) -> bool:
    """Tell whether something in a line may be what stands before a stamp in a message, or in it."""
    named = "time=" in line or "ts=" in line or '"ts"' in line or '"time' in line
    return named or "[20" in line or ":20" in line


class _Nested(NamedTuple):
    """A line whose message has a stamp with a year."""

    line: str
    time: float
    zoned: bool
    """True where that stamp names its zone; else it is taken for UTC."""


def _find_nested(source: Source) -> list[_Nested]:
    """Return some lines whose messages have a stamp with a year, those with a zone if any have
    one.
    """
    signed = [line for line in source.lines if _may_hold_stamp(line)]
    half = _SAMPLED // 2
    sampled = signed if len(signed) <= _SAMPLED else signed[:half] + signed[-half:]
    utc = WallClock(UTC)
    nested: list[_Nested] = []
    for line in sampled:
        cut = line[:1000]
        inner = _NESTED.search(cut)
        stamp = utc.match(cut, inner.end()) if inner is not None else None
        if stamp is not None:
            nested.append(_Nested(line, stamp.time, zoned=True))
        elif (logged := _ACCESS.search(cut)) is not None and logged["month"] in MONTHS:
            date = (int(logged["year"]), MONTHS[logged["month"]], int(logged["day"]))
            time = utc.place(date, int(logged["hour"]), 0, 0.0)
            if time is not None:
                nested.append(_Nested(line, time, zoned=False))
    return [one for one in nested if one.zoned] or nested


_ACCESS = re.compile(
    r"\[(?P<day>\d\d)/(?P<month>[A-Z][a-z]{2})/(?P<year>\d{4}):(?P<hour>\d\d):\d\d:\d\d"
)
"""The stamp of an access log, as HAProxy has it behind that of syslog."""
_MOSTLY = 0.8


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
