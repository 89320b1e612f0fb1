"""The table of all messages, and the search for them in a source.

A source is searched as one text for the signs whose rarest characters it has, each in one pass of
the C library, or, where its lines are alike but for numbers and ids, in one pass over one line of
each shape. Only lines that hold a sign meet their row's pattern.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

from podpath.evidence.messages import endings, units
from podpath.evidence.messages.row import MessagePattern, read_rows
from podpath.evidence.records import MessageRecord
from podpath.evidence.text.signs import SignIndex
from podpath.net.messages import MessageKind
from podpath.net.provenance import Source, Span

FAMILIES = (
    "kernel",
    "commands",
    "runtimes",
    "agents",
    "services",
    "names",
    "meshes",
    "managers",
    "hosts",
    "firewalls",
    "errnos",
    "takers",
    "wanted",
    "drivers",
    "plugins",
    "switches",
    "servers",
    "traffic",
    "fatalities",
)
"""Each is a file of rows beside this module, which begins with what its programs are."""
ROWS: tuple[MessagePattern, ...] = (
    *chain.from_iterable(map(read_rows, FAMILIES)),
    *units.ROWS,
    *endings.ROWS,
)
"""All rows, family by family. Of one line every row that it fits counts."""
MOST = 40
"""Different messages of one kind that are kept of a source: the first ones tell what the others
would.
"""
AGAIN = 400
"""Further lines that are kept of a message: they are read, too."""
CHUNK = 20_000
"""Lines that are searched as one text: a large source need not be held twice."""
WIDTH = 4000
"""Characters of a line in which a message is looked for."""


FALLBACKS = frozenset(
    {
        MessageKind.PLUGIN_FAILED,
        MessageKind.SYSCTL_DENIED,
        MessageKind.PROGRAM_FATAL,
    }
)
"""Kinds of a line that nothing else claims: what passes another's error on, and what that error
keeps from being set.
"""
SHORT = 3000
"""Lines of a source in which messages are looked for that two lines hold together."""
NARROW, BROAD = 40, 260
"""Columns at which terminals and mails break lines."""
_BEGINNING = re.compile(
    r"\s*(?:[$#>|*{}\[<-]|\d{1,4}[-/:.]\d|[A-Z][a-z]{2} [ \d]\d |[IWEF]\d{4} |time=|level=|ts=|"
    r"\S+[@:]\S*[#$] |(?i:error|warning|fatal|note): |at )"
)
"""How a line begins that is no rest of the one before."""
_VARYING = str.maketrans("", "", "0123456789abcdefABCDEF")
_BY_SIGN: dict[str, list[MessagePattern]] = {}
_BY_OUTLINE: dict[str, list[str]] = {}
"""The signs that are the same without what varies."""
for _row in ROWS:
    _BY_SIGN.setdefault(_row.sign, []).append(_row)
for _sign in _BY_SIGN:
    _BY_OUTLINE.setdefault(_sign.translate(_VARYING), []).append(_sign)
_SIGNS, _OUTLINES = SignIndex(_BY_SIGN), SignIndex(_BY_OUTLINE)
_QUOTING = re.compile(r"(?:[nrt\"]\\+|\s|\.)*")
"""What a log's own quoting puts behind an error, read backward."""


class _Place(NamedTuple):
    """The lines of a source that say something, by their places in it."""

    first: int
    last: int


class _Key(NamedTuple):
    """What makes two messages the same one, told twice."""

    kind: MessageKind
    values: tuple[tuple[str, str], ...]


def find_messages(source: Source) -> tuple[MessageRecord, ...]:
    """Return what the lines of a source say, in the order in which it is first said."""
    first: dict[_Key, _Place] = {}
    counts: Counter[_Key] = Counter()
    kinds: Counter[MessageKind] = Counter()
    again: dict[_Key, list[int]] = {}
    for place, key in (
        (*_find_wrapped(source), *_find_keys(source))
        if len(source.lines) <= SHORT
        else _find_keys(source)
    ):
        if key not in first:
            kinds[key.kind] += 1
            if kinds[key.kind] > MOST:
                continue
        first[key] = min(first.get(key, place), place)
        others = again.setdefault(key, [])
        if len(others) < AGAIN:
            others.extend(range(place.first, place.last + 1))
        counts[key] += 1
    ordered = sorted(first.items(), key=lambda item: item[1])
    return tuple(
        _make_record(source, key, place, counts[key], again[key]) for key, place in ordered
    )


def _find_keys(source: Source) -> Iterator[tuple[_Place, _Key]]:
    """Yield what each line says; of several rows of one kind the one that names the most counts."""
    for begin in range(0, len(source.lines), CHUNK):
        lines = source.lines[begin : begin + CHUNK]
        best: dict[tuple[int, MessageKind], _Key] = {}
        for place, row in _candidates(lines):
            key = _read_line(lines[place][:WIDTH], row)
            if key is not None:
                known = best.get((place, key.kind))
                best[place, key.kind] = (
                    key if known is None or len(key.values) > len(known.values) else known
                )
        claimed = {place for place, kind in best if kind not in FALLBACKS | endings.ASIDE}
        for (place, kind), key in sorted(best.items(), key=lambda item: item[0][0]):
            if kind not in FALLBACKS or place not in claimed:
                yield _Place(begin + place, begin + place), key


def _find_wrapped(source: Source) -> Iterator[tuple[_Place, _Key]]:
    """Yield what two lines say together, of which a terminal or a mail made two, and neither
    alone.
    """
    lines = source.lines
    pairs = [
        place for place in range(len(lines) - 1) if _is_wrapped(lines[place], lines[place + 1])
    ]
    told: set[tuple[int, MessageKind]] = set()
    for glue in ("", " "):
        joined = tuple(
            f"{lines[place].rstrip()}{glue}{lines[place + 1].lstrip()}" for place in pairs
        )
        for number, row in _candidates(joined):
            first = pairs[number]
            whole = _read_line(joined[number][:WIDTH], row)
            alone = any(row.pattern.search(line) for line in lines[first : first + 2])
            if whole is not None and not alone and (first, row.kind) not in told:
                told.add((first, row.kind))
                yield _Place(first, first + 1), whole


def _is_wrapped(line: str, following: str) -> bool:
    return (
        NARROW <= len(line) <= BROAD
        and following.strip() != ""
        and _BEGINNING.match(following) is None
    )


def _read_line(line: str, row: MessagePattern) -> _Key | None:
    found = row.pattern.search(line)
    if found is None:
        return None
    named = found.groupdict().items()
    return _Key(row.kind, tuple((name, _clean(name, value)) for name, value in named if value))


def _clean(name: str, value: str) -> str:
    """Return an error without what the log's own quoting, or its sentence, puts behind it."""
    if name != "error":
        return value
    backward = value[::-1]
    unopened = value.count(")") - value.count("(")
    place = _skip_quoting(backward, 0)
    while unopened > 0 and backward.startswith(")", place):
        place = _skip_quoting(backward, place + 1)
        unopened -= 1
    return value[: len(value) - place] or value


def _skip_quoting(backward: str, place: int) -> int:
    found = _QUOTING.match(backward, place)
    return place if found is None else found.end()


def _make_record(
    source: Source, key: _Key, place: _Place, count: int, again: Sequence[int]
) -> MessageRecord:
    first, last = (source.first_line + number for number in place)
    return MessageRecord(
        span=Span(source, first, last),
        kind=key.kind,
        values=dict(key.values),
        times=count,
        speaker=endings.find_speaker(source.lines[place.first]),
        again=tuple(source.first_line + number for number in again) if count > 1 else (),
    )


def _candidates(lines: Sequence[str]) -> Iterator[tuple[int, MessagePattern]]:
    """Yield each line, by its place, with each row whose sign stands in it, sign by sign."""
    text = "\n".join(lines)
    if not text:
        return
    shapes = _group_by_shape(lines)
    if 2 * len(shapes) > len(lines):
        yield from _search(text, lines)
        return
    outlines = "\n".join(shapes)
    alike = list(shapes.values())
    ends = list(accumulate(len(shape) + 1 for shape in shapes))
    for outline in _OUTLINES.find(outlines):
        for number in _find_lines(outlines, outline, ends):
            for place in alike[number]:
                signs = [sign for sign in _BY_OUTLINE[outline] if sign in lines[place]]
                yield from ((place, row) for sign in signs for row in _BY_SIGN[sign])


def _search(text: str, lines: Sequence[str]) -> Iterator[tuple[int, MessagePattern]]:
    ends = list(accumulate(len(line) + 1 for line in lines))
    for sign in _SIGNS.find(text):
        for place in _find_lines(text, sign, ends):
            yield from ((place, row) for row in _BY_SIGN[sign])


def _find_lines(text: str, sign: str, ends: Sequence[int]) -> Iterator[int]:
    """Yield the number of each line of a text that holds the sign."""
    start = text.find(sign)
    while start >= 0:
        place = bisect_right(ends, start)
        yield place
        start = text.find(sign, ends[place])


def _group_by_shape(lines: Sequence[str]) -> Mapping[str, Sequence[int]]:
    """Return the places of lines by what they are without hexadecimal digits: a program
    says one thing again and again, with another time, number or id. What a line holds, its shape
    holds without these.
    """
    shapes: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        shapes.setdefault(line.translate(_VARYING), []).append(place)
    return shapes
