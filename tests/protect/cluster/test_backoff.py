"""Tests of `cluster.backoff`: pauses double, are capped, jittered and never nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.cluster.backoff import FIRST, LONGEST, Backoff


def test_pauses_double_up_to_a_cap() -> None:
    """Without jitter the pauses double until the longest."""
    backoff = Backoff(lambda: 1.0)

    assert [0.5, 1, 2, 4, 8, 16, 30, 30] == [backoff.pause() for _ in range(8)]


def test_success_begins_anew() -> None:
    """After a success the first pause comes again."""
    backoff = Backoff(lambda: 1.0)
    backoff.pause()
    backoff.pause()

    backoff.reset()

    assert FIRST == backoff.pause()


def test_the_server_may_ask_for_longer() -> None:
    """A pause is no shorter than the server asked for, and a server that asks for a day does not
    get it.
    """
    assert Backoff(lambda: 0.0).pause(7.0) == 7.0
    assert Backoff(lambda: 0.0).pause(86_400.0) == 10 * LONGEST


@given(draws=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=50))
def test_no_pause_is_nothing(draws: list[float]) -> None:
    """Whatever is drawn, a pause is at least half the first and at most the longest."""
    given_draws = iter(draws)
    backoff = Backoff(lambda: next(given_draws, 0.5))

    assert all(FIRST / 2 <= backoff.pause() <= LONGEST for _ in range(len(draws)))
