"""Lines are cut for matching, and whole for quoting."""

from __future__ import annotations

from podpath.evidence.text.line_ledger import LINE_WIDTH, LineLedger
from podpath.net.provenance import Source


def test_long_lines() -> None:
    """A line without an end is cut to the width; others are as they are."""
    source = Source(name="x", lines=("a", "b" * 5000))
    ledger = LineLedger(source)
    assert ("a", LINE_WIDTH) == (ledger.lines[0], len(ledger.lines[1]))
    assert 5000 == len(ledger.span(1).text)


def test_ordinary_lines() -> None:
    """Nothing is copied where no line is long."""
    source = Source(name="x", lines=("a", "b"))
    assert LineLedger(source).lines is source.lines
