"""The account of formats whose events stand in several lines: what no event and no gap covers is a
heading.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from podpath.net.provenance import Gap, Source, Span
from podpath.timeline.event import LogEvent, LogReading


def close_account(
    source: Source, events: Sequence[LogEvent], gaps: Sequence[Gap] = ()
) -> LogReading:
    """Make the reading of a log from its events and gaps; runs of the lines that are left become
    headings.
    """
    covered: set[int] = set()
    for span in (*(event.span for event in events), *(gap.span for gap in gaps)):
        covered.update(range(span.line, span.last_line + 1))
    headings: list[Span] = []
    for index, line in enumerate(source.lines):
        number = source.first_line + index
        if number in covered or not line or line.isspace():
            continue
        if headings and headings[-1].last_line == number - 1:
            headings[-1] = headings[-1]._replace(last_line=number)
        else:
            headings.append(Span(source, number, number))
    times = array("d", [event.time for event in events])
    return LogReading(
        source=source, events=tuple(events), times=times, gaps=tuple(gaps), headings=tuple(headings)
    )
