"""The table of all messages, and the search for them in a source.

A source is searched as one text, sign by sign, so that a log of 100 MB without any of them costs one pass of the C library for
each sign; only lines that hold a sign meet their row's pattern.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from podpath.evidence.messages import (
    agents,
    commands,
    firewalls,
    hosts,
    kernel,
    managers,
    meshes,
    names,
    runtimes,
    services,
)
from podpath.evidence.messages.row import Row
from podpath.evidence.records import MessageRecord
from podpath.net.messages import MessageKind
from podpath.net.provenance import Source, Span

ROWS: tuple[Row, ...] = (
    *kernel.ROWS,
    *commands.ROWS,
    *runtimes.ROWS,
    *agents.ROWS,
    *services.ROWS,
    *names.ROWS,
    *meshes.ROWS,
    *managers.ROWS,
    *hosts.ROWS,
    *firewalls.ROWS,
)
"""All rows, family by family. Of one line every row that it fits counts."""
MOST = 40
"""Different messages of one kind that are kept of a source: the first ones tell what the others would."""
CHUNK = 20_000
"""Lines that are searched as one text: a large source need not be held twice."""
WIDTH = 4000
"""Characters of a line in which a message is looked for."""


class _Key(NamedTuple):
    """What makes two messages the same one, told twice."""

    kind: MessageKind
    values: tuple[tuple[str, str], ...]


def find_messages(source: Source) -> tuple[MessageRecord, ...]:
    """Return what the lines of a source say, in the order in which it is first said."""
    first: dict[_Key, int] = {}
    counts: Counter[_Key] = Counter()
    kinds: Counter[MessageKind] = Counter()
    for place, row in _candidates(source):
        key = _read_line(source.lines[place][:WIDTH], row)
        if key is None:
            continue
        if key not in first:
            kinds[key.kind] += 1
            if kinds[key.kind] > MOST:
                continue
        first[key] = min(first.get(key, place), place)
        counts[key] += 1
    ordered = sorted(first.items(), key=lambda item: item[1])
    return tuple(_make_record(source, key, place, counts[key]) for key, place in ordered)


def _read_line(line: str, row: Row) -> _Key | None:
    found = row.pattern.search(line)
    if found is None:
        return None
    return _Key(row.kind, tuple((name, value) for name, value in found.groupdict().items() if value))


def _make_record(source: Source, key: _Key, place: int, count: int) -> MessageRecord:
    line = source.first_line + place
    return MessageRecord(span=Span(source, line, line), kind=key.kind, values=dict(key.values), times=count)


def _candidates(source: Source) -> Iterator[tuple[int, Row]]:
    """Yield each line, by its place, with each row whose sign stands in it."""
    for begin in range(0, len(source.lines), CHUNK):
        lines = source.lines[begin : begin + CHUNK]
        text = "\n".join(lines)
        ends: list[int] = []
        for row in ROWS:
            start = text.find(row.sign)
            if start >= 0 and not ends:
                ends = list(accumulate(len(line) + 1 for line in lines))
            while start >= 0:
                place = bisect_right(ends, start)
                yield begin + place, row
                start = text.find(row.sign, ends[place])
