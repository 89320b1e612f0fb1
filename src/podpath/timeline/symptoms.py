"""When it failed and when it last worked, as far as the logs themselves tell."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf, isnan
from typing import NamedTuple

from podpath.evidence.attempts.failures import parse_failure, parse_result
from podpath.net.provenance import Span
from podpath.timeline.durations import parse_timeout
from podpath.timeline.event import LineEvents, LogEvent, LogReading
from podpath.timeline.window import FailureWindow

_SIGNS = (
    "timeout", "Timeout", "timed out", "Timed out", "TIMEOUT", "refused", "unreachable",
    "Unreachable", "o route to host", "reset by peer", "deadline exceeded", "awaiting headers",
    "Unhealthy", "ETIMEDOUT", "EHOSTUNREACH", '" 502 ', '" 503 ', '" 504 ', "\u8d85\u65f6",
    "\u62d2\u7edd",
)  # fmt: skip
"""A line with none of these tells of no failed connection."""
_CONNECTS = re.compile(
    r"\bdial\b|connect|https?://|probe|request|\blookup\b|\brpc\b|\blease\b|\bpeers?\b|upstream|"
    r"route to host|\bget\b|\bpost\b|\d+\.\d+\.\d+\.\d+|\u8fde\u63a5|\u8bbf\u95ee",
    re.IGNORECASE,
)
_GATEWAY = re.compile(r'" 50[234] ')
"""What a gateway answers for a server that it could not reach, as access logs have it."""
_NO_CONNECTION = re.compile(
    (
        r"NETDEV WATCHDOG|watchdog|job .* timed out|start operation timed out|\bstop-sigterm\b|"
        r"blk_update|ata\d|nvme|control socket|Registration of the \S+ container factory failed"
    ),
    re.IGNORECASE,
)
_SPAN = r"\W?\d+(?:\.\d+)?"
_UNIT = r" ?(?:ms|s|m|h|min(?:ute)?s?|sec(?:ond)?s?|milliseconds?)(?:\d+(?:ms|s|m))*"
_SETTING = re.compile(
    r"(?<!\w)--?[\w-]*time-?out[\w-]*(?:[= ]\W?[\w.]+)?|"
    rf"\b[\w.-]*timeout[\w-]*(?:\W{{0,2}}[=:]|(?: set| configured| is| of| to| as){{1,2}}) ?{_SPAN}"
    rf"(?:{_UNIT})?(?![\w.:])|\b[\w.-]*timeout[\w-]*[ (]{{1,2}}{_SPAN}{_UNIT}(?![\w.:])",
    re.IGNORECASE,
)
"""A timeout that is an option, or that something has: `--timeout 30`, `requestTimeout="2m0s"`,
`with a timeout of 10s`.
"""
_FAILS = re.compile(
    r"fail|error|\berr\b|exceed|expire|elaps|unable|cannot|can't|could ?n[o']t|\bafter\b|abort|"
    r"\blost\b|giv(?:e|ing) up|\bwarn|retr(?:y|ies)|unhealthy|reach|\bhit\b|occur|trigger",
    re.IGNORECASE,
)
"""What a line holds that tells of a failure, and names the timeout that was waited for."""
_OTHERS = frozenset({"sshd", "sshd-session", "postfix/smtpd", "rsyslogd", "audit"})
"""Programs whose clients come and go: that a scanner was cut off is no failure of this node's
network.
"""
_WORKED = re.compile(
    r"\bsuccess(?:ful(?:ly)?)?\b|\bsucceeded\b|\b(?:HTTP/[\d.]+\"? |status[=: ]+|"
    r"code[=: ]+)2\d\d\b|\" 2\d\d \d|\bconnected\b|\bestablished\b|\bhealthy\b|"
    r"\brenewed\b|\bok\b|\u6210\u529f",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|un\w+|fail\w*|error|dis\w+|no longer|cannot|never)\b|\u5931\u8d25", re.IGNORECASE
)
_CHUNK = 5000
_PAUSE = 1800.0
"""Seconds without a failure after which the next one belongs to another incident."""
_SAMPLED, _RUNS = 200, 50
"""Failures of a run that are read, and runs that are compared: a log may tell of a million."""
_BACK = 5000
"""Events before the first failure in which a success is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedFailure:
    """A line that tells of a failed connection."""

    event: LogEvent
    first: float
    """When it first failed: an event that tells of several failures says so."""
    timeout: float | None
    who: tuple[str, str]
    """Who failed to reach what, to tell one kind of failure from another."""


def find_window(
    readings: Sequence[LogReading], told: Collection[Span] = ()
) -> FailureWindow | None:
    """Return the window that the logs' own failures make; None where they tell of none.

    `told` are lines that other evidence takes for failures in question: where some are events, only
    these count.
    """
    lines = {
        (span.source.name, number)
        for span in told
        for number in range(span.line, span.last_line + 1)
    }
    candidates = sorted(
        candidate for reading in readings for candidate in _list_candidates(reading)
    )
    asked = [one for one in candidates if (one.reading.source.name, one.line) in lines]
    onset = _find_onset(asked) or _find_onset(candidates)
    if onset is None:
        return None
    before = _last_success(readings, onset)
    return FailureWindow(
        failed_at=onset.first,
        timeout=onset.timeout,
        failed_by=onset.event.span,
        last_ok=before.time if before is not None else None,
        ok_by=before.span if before is not None else None,
    )


class _Candidate(NamedTuple):
    """A line that may tell of a failed connection: it holds a sign of one, and has a time."""

    time: float
    line: int
    place: int
    """The index of its event."""
    reading: LogReading

    def read(self) -> LoggedFailure | None:
        """Look whether it does."""
        return read_failure(self.reading.events[self.place])

    def __lt__(self, other: tuple[object, ...]) -> bool:
        """Order by time, then as the logs stand."""
        return tuple(self)[:3] < other[:3]


def _list_candidates(reading: LogReading) -> Iterator[_Candidate]:
    first = reading.source.first_line
    for place, index in _places_at(reading, find_lines(reading.source.lines, _SIGNS)):
        if not isnan(reading.times[place]):
            yield _Candidate(reading.times[place], first + index, place, reading)


def _find_onset(candidates: Sequence[_Candidate]) -> LoggedFailure | None:
    """Return the first failure of the run that has most of them: a single one hours before is
    another matter.
    """
    runs: list[list[_Candidate]] = []
    for candidate in candidates:
        if runs and candidate.time - runs[-1][-1].time <= _PAUSE:
            runs[-1].append(candidate)
        else:
            runs.append([candidate])
    weighed = [
        (weight, run[0].time, run)
        for run in sorted(runs, key=len)[-_RUNS:]
        if (weight := _weigh_run(run)) > 0
    ]
    if not weighed:
        return None
    _, _, run = max(weighed, key=lambda one: one[:2])
    failures = list(
        islice((failure for one in run if (failure := one.read()) is not None), _SAMPLED)
    )
    return min(failures, key=lambda one: (one.first - (one.timeout or 0.0), one.first))


def _weigh_run(run: Sequence[_Candidate]) -> float:
    """Estimate how many failures a run tells of, by some of its lines."""
    sampled = run[:: max(len(run) // _SAMPLED, 1)]
    told = (
        min(failure.event.repeats, 100) for one in sampled if (failure := one.read()) is not None
    )
    return sum(told) * len(run) / len(sampled)


def find_failures(
    reading: LogReading, first: float = -inf, last: float = inf
) -> Iterator[LoggedFailure]:
    """Yield the failed connections that a log tells of between two moments, those without a time
    left out.
    """
    lines = reading.source.lines
    start, end = (
        _line_range(reading, first, last) if first > -inf or last < inf else (0, len(lines))
    )
    for place, _ in _places_at(
        reading, [start + index for index in find_lines(lines[start:end], _SIGNS)]
    ):
        if first <= reading.times[place] <= last:
            failure = read_failure(reading.events[place])
        else:
            failure = None
        if failure is not None:
            yield failure


def _line_range(reading: LogReading, first: float, last: float) -> tuple[int, int]:
    """Return the lines within which all events between two moments stand."""
    places = [place for place, time in enumerate(reading.times) if first <= time <= last]
    if not places:
        return 0, 0
    base = reading.source.first_line
    return reading.events[places[0]].span.line - base, reading.events[
        places[-1]
    ].span.last_line - base + 1


def read_failure(event: LogEvent) -> LoggedFailure | None:
    """Read an event as a failed connection; None where it is none, or has no time."""
    message = event.message[:2000]
    if (
        not event.placed
        or event.program in _OTHERS
        or _NO_CONNECTION.search(message)
        or (
            (parse_result(message) is None or _CONNECTS.search(message) is None)
            and _GATEWAY.search(message) is None
        )
    ):
        return None
    if _is_setting(message):
        return None
    found = parse_failure(message)
    target = f"{found.dst}:{found.dport}" if found is not None else ""
    return LoggedFailure(
        event=event,
        first=event.since or event.time,
        timeout=parse_timeout(message),
        who=(event.program, target),
    )


def _is_setting(message: str) -> bool:
    """Tell whether a line tells of a timeout that is set, and of no failure."""
    if "ime" not in message or _SETTING.search(message) is None or _FAILS.search(message):
        return False
    return not any(sign in _SETTING.sub("", message) for sign in _SIGNS)


def find_lines(lines: Sequence[str], signs: Sequence[str]) -> list[int]:
    """Return the indices of lines that hold one of the signs: many lines are searched at once."""
    found: set[int] = set()
    for start in range(0, len(lines), _CHUNK):
        chunk = lines[start : start + _CHUNK]
        text = "\n".join(chunk)
        for sign in signs:
            if sign in text:
                found.update(at for at, line in enumerate(chunk, start) if sign in line)
    return sorted(found)


def _places_at(reading: LogReading, indices: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the indices of the events that these lines belong to, each once, with the line's."""
    if not indices:
        return
    first = reading.source.first_line
    before = -1
    events = reading.events
    if isinstance(events, LineEvents):
        starts = events.starts
    else:
        starts = [event.span.line - first for event in events]
    for index in indices:
        place = bisect_right(starts, index) - 1
        if place > before:
            before = place
            yield place, index


def _last_success(readings: Sequence[LogReading], onset: LoggedFailure) -> LogEvent | None:
    """Return the last event before the first failure, in the same log, in which its writer says
    that it worked.
    """
    span = onset.event.span
    reading = next(reading for reading in readings if reading.source is span.source)
    later = bisect_left(reading.events, span.line, key=lambda event: event.span.line)
    for place in range(later - 1, max(later - _BACK, -1), -1):
        event = reading.events[place]
        if (
            event.program == onset.who[0]
            and event.placed
            and event.time < onset.first
            and _says_success(event.message)
        ):
            return event
    return None


def _says_success(message: str) -> bool:
    cut = message[:1000]
    return _WORKED.search(cut) is not None and _DENIED.search(cut) is None
