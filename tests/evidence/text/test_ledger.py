"""The account of a source's lines."""

from __future__ import annotations

from podpath.evidence.records import HeadingRecord
from podpath.evidence.text.ledger import Ledger
from tests.evidence.consoles import block


def test_unclaimed_lines_become_gaps() -> None:
    """What a reader did not claim is kept, with what it expected; blank lines need no account."""
    ledger = Ledger(block("one\n\n   \nfour"))
    ledger.head(0)

    reading = ledger.close("a route")

    assert ["one"] == [
        record.text for record in reading.records if isinstance(record, HeadingRecord)
    ]
    assert [(4, "expected a route, saw 'four'")] == [
        (gap.span.line, gap.why) for gap in reading.gaps
    ]


def test_an_ellipsis_is_a_partial_heading() -> None:
    """A line that leaves out others says that the listing is not whole."""
    ledger = Ledger(block("...\nx"))

    assert (True, False) == (ledger.elide(0), ledger.elide(1))
    assert [True] == [
        record.partial for record in ledger.close("x").records if isinstance(record, HeadingRecord)
    ]


def test_spans_are_numbered_as_in_the_file() -> None:
    """A block that begins at line 40 of a ticket gives spans of the ticket's lines."""
    source = block("a\nb\nc")
    ledger = Ledger(source)

    span = ledger.span(1, 2)

    assert (2, 3, "b\nc") == (span.line, span.last_line, span.text)
    assert (False, True) == (ledger.is_claimed(0), ledger.is_claimed(2))


def test_long_lines_are_quoted_short_in_a_gap() -> None:
    """The reason stays one readable line."""
    reading = Ledger(block("x" * 10_000)).close("a route")

    assert len(reading.gaps[0].why) < 120


def test_a_record_may_grow_by_lines_below() -> None:
    """The last record's span is replaced where a further line belongs to it."""
    ledger = Ledger(block("a\nb"))
    ledger.head(0)
    ledger.replace_span(ledger.span(0, 1))

    assert [(1, 2)] == [
        (record.span.line, record.span.last_line) for record in ledger.close("x").records
    ]
