"""Events as `kubectl get events` and `kubectl describe` print them, with ages in place of times:
`4s (x43 over 7m9s)`.

An age counts back from the moment that it was printed; where nobody says when that was, the event
has no place in time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from podpath.evidence.kubernetes.describe import read_describe, recognise_describe
from podpath.evidence.kubernetes.events import read_events, recognise_events
from podpath.evidence.kubernetes.records import EventRecord
from podpath.evidence.records import Reading
from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.durations import parse_duration
from podpath.timeline.event import UNPLACED, LogEvent, LogReading
from podpath.timeline.formats.block import close_account

_AGE: Final = re.compile(r"(?P<last>[\w.]+)(?:\s+\(x\d+ over (?P<first>[\w.]+)\))?")


def recognise(lines: Sequence[str]) -> float:
    """Recognize a table of events, or an object's description that ends in one."""
    source = Source(name="", lines=tuple(lines))
    return max(recognise_events(source), recognise_describe(source)) / 100


def read(source: Source, clock: Clock) -> LogReading:
    """Read the events; other fields of a description are headings."""
    described = recognise_describe(source) > recognise_events(source)
    reading: Reading = read_describe(source) if described else read_events(source)
    printed = source.taken_at if source.taken_at is not None else clock.printed
    events = [
        _make(record, printed) for record in reading.records if isinstance(record, EventRecord)
    ]
    return close_account(source, events, reading.gaps)


def _make(record: EventRecord, printed: float | None) -> LogEvent:
    found = _AGE.match(record.age or "")
    last = parse_duration(found["last"]) if found is not None else None
    first = parse_duration(found["first"]) if found is not None and found["first"] else None
    time = printed - last if printed is not None and last is not None else UNPLACED
    since = printed - first if printed is not None and first is not None else None
    writer = (record.origin or "kubernetes").partition(",")[0]
    return LogEvent(
        time,
        record.span,
        writer,
        describe_event(record.reason, record.object, record.message),
        "",
        record.count or 1,
        since,
    )


def describe_event(reason: str, subject: str | None, message: str) -> str:
    """Spell an event as one line: what it is, of what, and its message."""
    if subject:
        return f"{reason} {subject}: {message}"
    return f"{reason}: {message}"
