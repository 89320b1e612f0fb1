"""`journalctl -o export`: blocks of `KEY=VALUE` lines, a blank line between them; and `-o verbose`,
which shows the time above each block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from podpath.net.provenance import Gap, Source, Span
from podpath.timeline.clock import Clock
from podpath.timeline.event import LogEvent, LogReading
from podpath.timeline.formats.block import close_account
from podpath.timeline.formats.syslog_iso import FULL
from podpath.timeline.lines import LINE_WIDTH

_FIELD: Final = re.compile(r"(?P<key>[A-Z_][A-Z0-9_]{0,63})=(?P<value>.*)", re.DOTALL)
_TIME: Final = re.compile(r"\d{1,17}")
_VERBOSE: Final = re.compile(r"[A-Z][a-z]{2} \d{4}-\d\d-\d\d [\d:.]+ \S+ (?=\[[a-z]=)")
_INDENTED: Final = re.compile(r"\s+" + _FIELD.pattern, re.DOTALL)


def recognise(lines: Sequence[str]) -> float:
    """Recognize fields of the journal, the time among them."""
    fields = sum(_FIELD.match(line) is not None for line in lines)
    if any(line.startswith("__REALTIME_TIMESTAMP=") for line in lines):
        return fields / len(lines)
    return 0.0


def read(source: Source, clock: Clock) -> LogReading:
    """Read the entries; one without a time is a gap."""
    del clock
    events: list[LogEvent] = []
    gaps: list[Gap] = []
    for first, last in _blocks(source.lines):
        span = Span(source, source.first_line + first, source.first_line + last)
        found = (_FIELD.match(line[:LINE_WIDTH]) for line in source.lines[first : last + 1])
        fields = {field["key"]: field["value"] for field in found if field is not None}
        time = _TIME.fullmatch(fields.get("__REALTIME_TIMESTAMP", ""))
        if time is None:
            gaps.append(
                Gap(span, "expected an entry of the journal with __REALTIME_TIMESTAMP, saw none")
            )
            continue
        events.append(_make(int(time[0]) / 1e6, span, fields))
    return close_account(source, events, gaps)


def _make(time: float, span: Span, fields: dict[str, str]) -> LogEvent:
    program = fields.get("SYSLOG_IDENTIFIER") or fields.get("_COMM", "")
    return LogEvent(time, span, program, fields.get("MESSAGE", ""), fields.get("_HOSTNAME", ""))


def recognise_verbose(lines: Sequence[str]) -> float:
    """Recognize the fields below a time with a cursor."""
    known = sum(bool(_VERBOSE.match(line) or _INDENTED.match(line)) for line in lines)
    if any(map(_VERBOSE.match, lines)):
        return known / len(lines)
    return 0.0


def read_verbose(source: Source, clock: Clock) -> LogReading:
    """Read the entries; lines above the first one are headings."""
    stamp = FULL.stamp(source, clock)
    starts = [index for index, line in enumerate(source.lines) if _VERBOSE.match(line)]
    events: list[LogEvent] = []
    for start, end in pairwise([*starts, len(source.lines)]):
        last = max(at for at in range(start, end) if source.lines[at].strip())
        span = Span(source, source.first_line + start, source.first_line + last)
        found = (_INDENTED.match(line[:LINE_WIDTH]) for line in source.lines[start + 1 : end])
        fields = {field["key"]: field["value"] for field in found if field is not None}
        time = stamp(source.lines[start].replace(" [", " x [", 1))
        if time is not None:
            events.append(_make(time, span, fields))
    return close_account(source, events)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    start: int | None = None
    for index, line in enumerate(lines):
        if line and not line.isspace():
            start = index if start is None else start
        elif start is not None:
            yield start, index - 1
            start = None
    if start is not None:
        yield start, len(lines) - 1
