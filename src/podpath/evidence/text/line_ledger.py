"""An account of lines for readers that match whole lines: each is cut to a width that no tool
exceeds.

A pattern that is linear on a real line may be quadratic on a line of a megabyte; what stands past
the width is still in the source, and is quoted with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.evidence.text.ledger import Ledger
from podpath.net.provenance import Source

LINE_WIDTH = 2000
"""Longer than any line of the tools that are read line by line; the longest are events and log
lines with a quoted error.
"""


class LineLedger(Ledger):
    """The records and gaps of one source, with its lines as readers match them."""

    __slots__ = ("lines",)

    def __init__(self, source: Source) -> None:
        """Open the account of a source."""
        super().__init__(source)
        self.lines = clip_lines(source.lines)


def clip_lines(lines: Sequence[str]) -> Sequence[str]:
    """Cut lines to the width; they are given back as they are where none is longer."""
    if not lines or max(map(len, lines)) <= LINE_WIDTH:
        return lines
    return tuple(line[:LINE_WIDTH] for line in lines)
