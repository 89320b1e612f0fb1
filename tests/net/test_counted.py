"""Shares that are counted."""

from __future__ import annotations

from podpath.net.counted import Counted, count


def test_a_count_is_its_share() -> None:
    """Whoever knows shares alone takes it for one, and neither for a beginning nor for an end; of
    nothing, everything is done.
    """
    half, none = Counted(2, 4), Counted(0, 0)
    assert (0.5, 2, 4, False) == (half, half.done, half.total, half.is_done)
    assert (0.001, True, 0.999) == (none, none.is_done, Counted(4, 4))


def test_things_are_counted_as_they_are_done() -> None:
    """The first is under way with none done; after the last, all are."""
    told: list[float] = []
    assert ["a", "b"] == list(count(["a", "b"], told.append))
    assert [Counted(0, 2), Counted(1, 2), Counted(2, 2)] == told
