"""The window in which it broke."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.timeline.window import LOOKBACK, FailureWindow


def test_the_first_bad_request_began_a_timeout_earlier() -> None:
    """A failure seen at 15 s after a timeout of 10 s was sent at 5 s; a change at 3 s is in the
    window, one at 8 s is not.
    """
    window = FailureWindow(failed_at=1015.0, timeout=10.0, last_ok=994.0)

    assert (1005.0, 994.0) == (window.began, window.start)
    assert [True, True, False, False] == [
        window.holds(time) for time in (1003.0, 1006.0, 1008.0, 992.0)
    ]


def test_without_a_last_success_it_looks_back() -> None:
    """Where nobody says when it last worked, some minutes are looked at."""
    assert 1000.0 - LOOKBACK == FailureWindow(failed_at=1000.0).start


def test_a_success_after_the_beginning_is_of_another_request() -> None:
    """A success later than the first failing request began says nothing of its window."""
    assert 990.0 - LOOKBACK == FailureWindow(failed_at=1000.0, timeout=10.0, last_ok=995.0).start


@given(st.floats(0, 1e9), st.floats(0, 1e4), st.floats(0, 1e9))
def test_the_window_is_never_turned_round(failed_at: float, timeout: float, last_ok: float) -> None:
    """The window's beginning is never after its end."""
    window = FailureWindow(failed_at=failed_at, timeout=timeout, last_ok=last_ok)

    assert window.start <= window.began <= window.failed_at
