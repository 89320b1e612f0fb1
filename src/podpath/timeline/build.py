"""Logs to a chronicle: the window found or given, events in and round it marked, suspects ranked,
chains matched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from itertools import islice

from podpath.net.provenance import Span
from podpath.timeline.chain import CauseChain
from podpath.timeline.chronicle import Chronicle
from podpath.timeline.event import LogEvent
from podpath.timeline.reading import Logs
from podpath.timeline.stamps import SHARED
from podpath.timeline.stories import AFTER, REACH, find_stories
from podpath.timeline.suspects import Marked, mark_events, rank_suspects
from podpath.timeline.symptoms import find_failures, find_window
from podpath.timeline.window import RESOLUTION, FailureWindow

ROUND = 120.0
"""Seconds round the window that the chronicle shows."""
NEAR = 2.0
"""Seconds by which a failure may differ from the moment that the user says: people round."""
MOST_MARKED = 400
FAILURES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldFailure:
    """What the user, or other evidence, says of the failure."""

    failed_at: float | None = None
    timeout: float | None = None
    last_ok: float | None = None
    failures: Collection[Span] = ()
    """Lines of the evidence that tell of failures in question."""


def build_chronicle(
    logs: Logs, chains: Sequence[CauseChain], told: ToldFailure | None = None, zone: tzinfo = UTC
) -> Chronicle:
    """Say what the logs tell about a failure."""
    said = told or ToldFailure()
    window = _find_window(logs, said)
    first, last = _span(logs, window)
    marked = mark_events(logs.readings, first, last)
    stories = find_stories(chains, marked, window)
    suspects = rank_suspects(marked, window) if window is not None else ()
    return Chronicle(
        window=window,
        marked=_shown(
            marked, window, stories_events=[one.marked for story in stories for one in story.told]
        ),
        suspects=suspects,
        stories=stories,
        symptoms=tuple(islice(_symptoms(logs, window), FAILURES)),
        logs=len(logs.readings),
        events=sum(len(reading.times) for reading in logs.readings),
        covered=window is not None and _covers(logs, window),
        gaps=logs.gaps,
        questions=tuple(_questions(logs, window)),
        notes=(*logs.notes, *_notes(logs, window, said)),
        zone=zone,
    )


def _find_window(logs: Logs, told: ToldFailure) -> FailureWindow | None:
    """Take what is said, and what the logs say for the rest."""
    if told.failed_at is not None:
        return _given_window(logs, told, told.failed_at)
    derived = find_window(logs.readings, told.failures)
    if derived is None:
        return None
    timeout = told.timeout if told.timeout is not None else derived.timeout
    if told.last_ok is not None:
        return replace(derived, timeout=timeout, last_ok=told.last_ok, ok_by=None)
    return replace(derived, timeout=timeout)


def _given_window(logs: Logs, told: ToldFailure, failed_at: float) -> FailureWindow:
    """Take the moment that is said; a failure that the logs have then tells the timeout that nobody
    says.
    """
    near = (
        one
        for reading in logs.readings
        for one in find_failures(reading, failed_at - NEAR, failed_at + NEAR)
    )
    seen = min(near, key=lambda one: abs(one.event.time - failed_at), default=None)
    timeout = told.timeout if told.timeout is not None or seen is None else seen.timeout
    return FailureWindow(
        failed_at=failed_at,
        timeout=timeout,
        last_ok=told.last_ok,
        failed_by=seen.event.span if seen is not None else None,
    )


def _span(logs: Logs, window: FailureWindow | None) -> tuple[float, float]:
    """Return from when to when events are looked at."""
    if window is not None:
        return window.start - REACH, window.failed_at + AFTER
    reach = logs.reach
    if reach is not None:
        return (reach.first, reach.last)
    return (0.0, 0.0)


def _shown(
    marked: Sequence[Marked], window: FailureWindow | None, stories_events: Sequence[Marked]
) -> tuple[Marked, ...]:
    """Keep what is told in the picture: all of the window and a little round it, and what chains
    began with before it.
    """
    if window is None:
        return tuple(marked[-MOST_MARKED:])
    first, last = window.start - ROUND, window.failed_at + ROUND
    telling = set(stories_events)
    kept = [one for one in marked if first <= one.event.time <= last or one in telling]
    return tuple(kept[:MOST_MARKED])


def _symptoms(logs: Logs, window: FailureWindow | None) -> Iterator[LogEvent]:
    if window is None:
        return
    last = window.failed_at + REACH
    each = (
        islice(find_failures(reading, window.began, last), FAILURES) for reading in logs.readings
    )
    failures = (failure for some in each for failure in some)
    yield from (failure.event for failure in sorted(failures, key=lambda one: one.first))


def _covers(logs: Logs, window: FailureWindow) -> bool:
    """Tell whether some log that is written all the time has lines before the window and after its
    end.
    """
    return any(
        span.first <= window.start + RESOLUTION and span.last >= window.began - RESOLUTION
        for span in logs.spans
    )


def _questions(logs: Logs, window: FailureWindow | None) -> Iterator[str]:
    if window is None:
        yield (
            "When did it first fail? Give the time with --failed-at, and the failed request's "
            "timeout with --timeout."
        )
    else:
        if window.timeout is None:
            yield (
                "How long does a request wait before it fails? With --timeout 10s, the first bad "
                "one began that much earlier."
            )
        if window.last_ok is None:
            yield "When did it last work? --last-ok T narrows the window."
        if not _covers(logs, window):
            yield (
                "The logs do not cover the window: give journalctl --since and --until, "
                "/var/log/messages, dmesg -T. Or their time stamps are in another zone: --zone "
                "ZONE, --zone NAME=ZONE."
            )
    for log, name in logs.shared:
        zones = " or ".join(f"UTC{hours:+g}" for hours in SHARED[name])
        yield f"{log}: is {name} {zones}? Its stamps were not read as either: --zone tells."
    if logs.unplaced:
        yield (
            "Some events have only an age, a time of day or the kernel's seconds: give the time "
            "when they were printed with --now T; dmesg -T and kubectl logs --timestamps print "
            "times."
        )


def _notes(logs: Logs, window: FailureWindow | None, told: ToldFailure) -> Iterator[str]:
    if window is None:
        return
    if window.last_ok is not None and window.last_ok > window.began:
        yield (
            "The last success is later than the start of the first failing request: they belong "
            "to two different requests, or their clocks differ."
        )
    if told.failed_at is None and window.failed_by is not None:
        yield f"The first failure is taken from {window.failed_by}; --failed-at sets another."
    hosts = {
        reading.events[0].host
        for reading in logs.readings
        if len(reading.events) and reading.events[0].host
    }
    if len(hosts) > 1:
        some = ", ".join(sorted(hosts)[:4])
        yield f"The logs are from several hosts ({some}), whose clocks may differ."
