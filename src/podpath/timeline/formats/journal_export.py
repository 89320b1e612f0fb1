"""`journalctl -o export`: blocks of `KEY=VALUE` lines, a blank line between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from podpath.net.provenance import Gap, Source, Span
from podpath.timeline.clock import Clock
from podpath.timeline.event import LogEvent, LogReading
from podpath.timeline.formats.block import close_account
from podpath.timeline.lines import LINE_WIDTH

_FIELD: Final = re.compile(r"(?P<key>[A-Z_][A-Z0-9_]{0,63})=(?P<value>.*)", re.DOTALL)
_TIME: Final = re.compile(r"\d{1,17}")


def recognise(lines: Sequence[str]) -> float:
    """Recognize fields of the journal, the time among them."""
    fields = sum(_FIELD.match(line) is not None for line in lines)
    return (
        fields / len(lines)
        if any(line.startswith("__REALTIME_TIMESTAMP=") for line in lines)
        else 0.0
    )


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
        program = fields.get("SYSLOG_IDENTIFIER") or fields.get("_COMM", "")
        events.append(
            LogEvent(
                int(time[0]) / 1e6,
                span,
                program,
                fields.get("MESSAGE", ""),
                fields.get("_HOSTNAME", ""),
            )
        )
    return close_account(source, events, gaps)


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
