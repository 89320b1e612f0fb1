"""The tables of messages that mean something."""

from __future__ import annotations

from podpath.timeline.mark_rows import ANYBODY, KERNEL, SAID
from podpath.timeline.marks import WEIGHTS


def test_every_row_has_a_kind_with_a_weight() -> None:
    """No row names a kind that nobody weighs."""
    assert {row.kind for row in (*SAID, *KERNEL, *ANYBODY)} <= set(WEIGHTS)


def test_rows_differ() -> None:
    """No pattern stands twice."""
    patterns = [row.pattern.pattern for row in (*SAID, *KERNEL, *ANYBODY)]

    assert len(patterns) == len(set(patterns))
