"""What was found in an input: the gap of a file as a whole."""

from __future__ import annotations

from podpath.evidence.gathered import make_gap


def test_gap_of_a_file_spans_all_of_its_lines() -> None:
    """It begins at the first line and ends at the last one; a file whose lines nobody read has one
    place.
    """
    whole, unread = make_gap("a.log", "no log", ("one", "two")), make_gap("a.bin", "no text")

    assert ("a.log", 1, 2, "no log") == (
        whole.span.source.name,
        whole.span.line,
        whole.span.last_line,
        whole.why,
    )
    assert (1, 1) == (unread.span.line, unread.span.last_line)
