"""Tests for the third answer of a match."""

from __future__ import annotations

from podpath.xtables.seen import Doubt


def test_the_likelier_answer_comes_first() -> None:
    """A walk takes it before the other."""
    likely, unlikely = Doubt("it rains", likely=True), Doubt("it rains", likely=False)

    assert [True, False] == [option.value for option in likely.options()]
    assert [False, True] == [option.value for option in unlikely.options()]
