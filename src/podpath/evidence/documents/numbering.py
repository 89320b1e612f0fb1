"""Lines that an editor or `cat -n` numbered: the numbers hide the shape of what was pasted.

Many listings number their own lines (`ip -o link`, `iptables -L --line-numbers`, a traceroute). So
numbers are taken off only where each is one more than the one before, no line has a shape as it
stands, and without its number one has that of a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from podpath.evidence.documents.regions import DocumentLine
from podpath.evidence.documents.shapes import match_shape

LEAST = 3
"""Lines of a run: fewer may be anything."""
_SHOWS_FILES = "cat"
_NUMBERED = re.compile(r"\s*(?P<number>\d{1,5})(?::|\t| |$)")


def strip_numbers(lines: Sequence[DocumentLine]) -> tuple[DocumentLine, ...]:
    """Take the numbers off the runs of lines that are numbered; others stay as they are."""
    found = [_NUMBERED.match(line.text) for line in lines]
    result = list(lines)
    start = 0
    while start < len(lines):
        end = _find_end(found, start)
        run = range(start, end)
        bare = [
            line._replace(text=line.text[match.end() :])
            for line, match in zip(lines[start:end], found[start:end], strict=True)
            if match is not None
        ]
        if len(run) >= LEAST and _is_uncovered(lines[start:end], bare):
            result[start:end] = bare
        start = max(end, start + 1)
    return tuple(result)


def _find_end(found: Sequence[re.Match[str] | None], start: int) -> int:
    """Return the index after the last line of a run of numbers that starts here."""
    end = start
    before: int | None = None
    while end < len(found):
        match = found[end]
        if match is None or (before is not None and int(match["number"]) != before + 1):
            break
        before = int(match["number"])
        end += 1
    return end


def _is_uncovered(lines: Sequence[DocumentLine], bare: Sequence[DocumentLine]) -> bool:
    """Tell whether lines have the shape of a file without their numbers alone."""
    if any(match_shape(line.text) is not None for line in lines):
        return False
    shapes = [match_shape(line.text) for line in bare]
    return any(shape is not None and _SHOWS_FILES in shape.programs for shape in shapes)
