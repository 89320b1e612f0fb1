"""What changed in the window, the likeliest to have broken the network first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.timeline.event import LogEvent, LogReading
from podpath.timeline.leases import compare_lease
from podpath.timeline.mark_kinds import MarkKind
from podpath.timeline.marks import Mark, mark_event, weigh_mark
from podpath.timeline.window import NEARLY, FailureWindow

SHOWN = 40
"""Suspects that are kept: past these nobody reads on."""


class Marked(NamedTuple):
    """An event that means something to the network."""

    event: LogEvent
    mark: Mark


class Suspect(NamedTuple):
    """Something that may have broken the network."""

    event: LogEvent
    mark: Mark
    score: float
    """0 to 1: by what it is, and by how close to the first failing request it was."""
    before: float
    """Seconds from it to the beginning of the first failing request; negative where it came
    after.
    """
    times: int = 1
    """How many events of the log say the same."""


def mark_events(readings: Sequence[LogReading], first: float, last: float) -> tuple[Marked, ...]:
    """Return the events between two moments that mean something, in the order of time."""
    found: list[Marked] = []
    for reading in readings:
        for place, time in enumerate(reading.times):
            if first <= time <= last:
                event = reading.events[place]
                mark = _look_back(event, mark_event(event))
                if mark is not None:
                    found.append(Marked(event, mark))
    return tuple(sorted(found, key=lambda one: (one.event.time, one.event.span.line)))


def _look_back(event: LogEvent, mark: Mark | None) -> Mark | None:
    """Hold a lease against the one before it: a renewal means nothing."""
    if mark is None or mark.kind != MarkKind.ADDRESS or mark.verb != "leased":
        return mark
    verb = compare_lease(event)
    if verb != "renewed":
        return mark._replace(verb=verb)
    return None


def rank_suspects(marked: Sequence[Marked], window: FailureWindow) -> tuple[Suspect, ...]:
    """Rank what changed in the window, or shortly before it; events that say the same are one
    suspect, at its latest.
    """
    latest: dict[Mark, Suspect] = {}
    for suspect in _weigh(marked, window):
        before = latest.get(suspect.mark)
        if before is None or suspect.score >= before.score:
            latest[suspect.mark] = suspect._replace(
                times=1 + (before.times if before is not None else 0)
            )
        else:
            latest[suspect.mark] = before._replace(times=before.times + 1)
    return tuple(sorted(latest.values(), key=lambda one: (-one.score, one.before))[:SHOWN])


def _weigh(marked: Sequence[Marked], window: FailureWindow) -> Iterator[Suspect]:
    for event, mark in marked:
        inside = window.holds(event.time)
        if not inside and not window.start - NEARLY <= event.time <= window.began:
            continue
        before = window.began - event.time
        yield Suspect(
            event,
            mark,
            round(weigh_mark(mark) * _closeness(before, window) * (1.0 if inside else 0.5), 3),
            before,
        )


_HALF = 120.0
"""Seconds in which a suspicion halves, where nobody says when it last worked."""


def _closeness(before: float, window: FailureWindow) -> float:
    """Return 1 within a window that both ends are known of; less with distance where its beginning
    is a guess.
    """
    if window.last_ok is not None and window.last_ok <= window.began:
        return 1.0 - 0.2 * min(max(before, 0.0) / max(window.began - window.start, 1.0), 1.0)
    return 0.4 + 0.6 * math.pow(0.5, max(before, 0.0) / _HALF)
