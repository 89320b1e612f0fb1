"""The years of stamps that name none."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from podpath.timeline.clock import Clock
from podpath.timeline.years import first_year, turn

NOW = Clock(now=datetime(2025, 3, 20, 12, tzinfo=UTC).timestamp())


def test_the_latest_year_that_is_not_in_the_future() -> None:
    """A stamp after today (and the slack of a day) is of last year."""
    assert [2025, 2025, 2024] == [first_year([3], (3, day), NOW) for day in (20, 21, 22)]


def test_turns_of_the_year_count_back() -> None:
    """The first month of a log that spans two turns is two years earlier."""
    assert 2023 == first_year([11, 1, 6, 12, 2], (2, 1), NOW)


@given(st.integers(1, 12), st.integers(1, 12))
def test_disorder_over_new_year_comes_out_even(before: int, month: int) -> None:
    """Going forth over New Year and back again counts no year; a log that pauses for half a year
    has turned no year twice.
    """
    assert turn(before, month) + turn(month, before) in (
        {0} if abs(before - month) >= 10 or abs(before - month) < 6 else {1}
    )
