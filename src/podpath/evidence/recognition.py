"""The table of all formats, and the choice among them by content.

A format is chosen by what its block shows; the command that printed it counts, but content must agree. Adding a format is one
module with its `FORMAT` (or `FORMATS`), one line here, one test and one fixture. At equal degrees the earlier row wins.
"""

from __future__ import annotations

from podpath.evidence.formats import NO, Format
from podpath.evidence.records import Reading
from podpath.net.provenance import Source

FORMATS: tuple[Format, ...] = ()
"""All formats. Rows of one family of tools stand together."""


def recognise(source: Source) -> Format | None:
    """Give the format that is surest of the source; None where none is sure at all: prose, or something unknown."""
    best: Format | None = None
    degree = NO
    for row in FORMATS:
        claim = row.recognise(source)
        if claim > degree:
            best, degree = row, claim
    return best


def read(source: Source) -> Reading | None:
    """Read a source with the format that recognises it; None where none does."""
    found = recognise(source)
    return None if found is None else found.read(source)
