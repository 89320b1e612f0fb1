"""Logs of several containers or files in one, each line behind its writer's name: `kubectl logs
--prefix`, stern, `docker compose logs`, `grep` over /var/log.

What stands behind the prefix is a log of another format, which may differ from writer to writer.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, LogReading, Split
from podpath.timeline.lines import LineFormat, ReadStamp, read_lines

_PREFIX: Final = re.compile(
    r"\[pod/[^\]\s/]{1,253}/(?P<kubectl>[^\]\s]{1,63})\] |"
    r"(?P<compose>[\w.-]{1,100}) +\| ?|"
    r"(?P<file>(?:[\w.@+-]*/)*[\w.@+-]*(?:log|messages|secure)[\w.@+-]*|(?:/[\w.@+-]+){2,}):(?:\d+:)?|"
    r"(?:[a-z0-9-]{1,63} )?[a-z0-9.-]{1,253}-[a-z0-9.-]{1,64} (?P<stern>[a-z][a-z0-9-]{1,62}) "
)
_HEADINGS: Final = re.compile(r"[+-] \S+ \u203a \S+$|Attaching to |==> .* <==$|--$")
"""What stern, compose, tail and grep say of the writers themselves."""
_SAMPLED: Final = 200
_SOME: Final = 0.3


class _Reader(NamedTuple):
    """How lines of one writer are read."""

    stamp: ReadStamp
    split: Split


def recognise(lines: Sequence[str], formats: Sequence[LineFormat]) -> float:
    """Return the share of lines that have a prefix, where behind some it goes on with a line of
    another format.
    """
    rest = [line[found.end() :] for line in lines if (found := _PREFIX.match(line)) is not None]
    stamped = sum(_find_format(line, formats) is not None for line in rest)
    if stamped >= _SOME * len(lines):
        return len(rest) / len(lines)
    return 0.0


def read(source: Source, clock: Clock, formats: Sequence[LineFormat]) -> LogReading:
    """Read every line with the format of its writer. Never raises."""
    writers = _Writers(source, clock, formats)
    own = LineFormat(
        "log behind prefixes",
        _PREFIX,
        lambda *_: writers.read,
        lambda *_: writers.split,
        headings=_HEADINGS,
        wraps=True,
    )
    return read_lines(source, clock, own)


class _Writers:
    """The writers of one log, each with its formats."""

    def __init__(self, source: Source, clock: Clock, formats: Sequence[LineFormat]) -> None:
        self._clock = clock
        self._formats = formats
        self._source = source
        lines: dict[str, list[str]] = defaultdict(list)
        for line in source.lines:
            name, rest = _take_prefix(line)
            if rest:
                lines[name].append(rest)
        self._lines = lines
        self._usual: dict[str, LineFormat | None] = {}
        self._readers: dict[tuple[str, str], _Reader] = {}

    def read(self, line: str) -> float | None:
        """Return the time of a line; None where what stands behind its prefix has none."""
        name, rest = _take_prefix(line)
        row = self._choose(name, rest) if rest else None
        if row is not None:
            return self._reader(name, row).stamp(rest)
        return None

    def split(self, line: str) -> LineParts:
        """Take a line apart; its writer is the prefix's where the line names none."""
        name, rest = _take_prefix(line)
        row = self._choose(name, rest)
        if row is None:
            return LineParts(name, rest)
        parts = self._reader(name, row).split(rest)
        if parts.program:
            return parts
        return parts._replace(program=name)

    def _choose(self, name: str, rest: str) -> LineFormat | None:
        """Return the format of a writer's line: its usual one, or that of the line."""
        if name not in self._usual:
            sampled = (_find_format(line, self._formats) for line in self._lines[name][:_SAMPLED])
            names = Counter(row for row in sampled if row is not None)
            self._usual[name] = next((row for row, _ in names.most_common(1)), None)
        usual = self._usual[name]
        if usual is not None and usual.shape.match(rest) is not None:
            return usual
        return _find_format(rest, self._formats)

    def _reader(self, name: str, row: LineFormat) -> _Reader:
        key = (name, row.name)
        if key not in self._readers:
            lines = tuple(line for line in self._lines[name] if row.shape.match(line) is not None)
            source = replace(self._source, name=name, lines=lines, command=None)
            self._readers[key] = _Reader(row.stamp(source, self._clock), row.split(source))
        return self._readers[key]


def _take_prefix(line: str) -> tuple[str, str]:
    """Return a line's writer, and the rest; both empty where it has no prefix."""
    found = _PREFIX.match(line)
    if found is None:
        return "", ""
    return found[str(found.lastgroup)], line[found.end() :]


def _find_format(line: str, formats: Sequence[LineFormat]) -> LineFormat | None:
    rows = (row for row in formats if not row.loose and row.shape.match(line) is not None)
    return next(islice(rows, 1), None)
