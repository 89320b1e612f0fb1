"""Which suppositions are worth a world of their own."""

from __future__ import annotations

from podpath.diagnosis.worlds import _has_part


def test_what_a_part_of_the_suppositions_explains_needs_no_further_ones() -> None:
    """Of the same world; another one's suppositions are another matter."""
    one, two = ("FORWARD", 1), ("rp_filter", 2)
    seen = {(0, frozenset({one}))}

    assert _has_part(seen, (0, frozenset({one, two})))
    assert not _has_part(seen, (0, frozenset({one})))
    assert not _has_part(seen, (1, frozenset({one, two})))
