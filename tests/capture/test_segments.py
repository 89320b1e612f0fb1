"""Scans within runs: the same as a loop over each run."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podpath.capture.segments import before, begins, order_by, running_maximum, unwrapped

RUNS = st.lists(st.lists(st.integers(-1000, 1000), min_size=1, max_size=6), min_size=1, max_size=6)


def flat(runs: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Put runs one after the other, with a mark where each begins."""
    numbers = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
    return np.array([value for run in runs for value in run], np.int64), begins(numbers)


@given(RUNS)
def test_running_maximum_is_that_of_each_run(runs: list[list[int]]) -> None:
    """The largest so far never comes from another run."""
    expected = [max(run[: at + 1]) for run in runs for at in range(len(run))]

    assert expected == running_maximum(*flat(runs)).tolist()


@given(RUNS)
def test_value_before_is_of_the_same_run(runs: list[list[int]]) -> None:
    """The first of a run has nothing before it."""
    assert [value for run in runs for value in [-5, *run[:-1]]] == before(*flat(runs), -5).tolist()


@given(st.lists(st.integers(0, 200_000), max_size=30))
def test_order_keeps_the_file_within_a_run(runs: list[int]) -> None:
    """Rows are ordered by run, and within a run as they stand."""
    assert sorted(range(len(runs)), key=lambda row: runs[row]) == order_by(np.array(runs, np.int64)).tolist()


def test_numbers_that_wrap() -> None:
    """A sequence number that passes 2^32 goes on counting, and one that goes back counts back."""
    values = np.array([0xFFFFFFF0, 0x10, 0x8, 5, 4], np.uint32)

    assert [0, 32, 24, 0, -1] == unwrapped(values, np.array([True, False, False, True, False])).tolist()
