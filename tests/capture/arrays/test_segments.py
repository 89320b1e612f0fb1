"""Scans within runs: the same as a loop over each run."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podpath_capture.arrays.segments import (
    Runs,
    are_among,
    distinct,
    first_of_each,
    order_by,
    unwrapped,
)

RUNS = st.lists(st.lists(st.integers(-1000, 1000), min_size=1, max_size=6), min_size=1, max_size=6)


def flat(runs: list[list[int]]) -> tuple[Runs, np.ndarray]:
    """Put runs one after the other, with the values of their rows."""
    numbers = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
    return Runs(numbers), np.array([value for run in runs for value in run], np.int64)


@given(RUNS)
def test_running_maximum_is_that_of_each_run(runs: list[list[int]]) -> None:
    """The largest so far never comes from another run."""
    found, values = flat(runs)

    assert [max(run[: at + 1]) for run in runs for at in range(len(run))] == found.running_maximum(
        values
    ).tolist()


@given(RUNS)
def test_value_before_is_of_the_same_run(runs: list[list[int]]) -> None:
    """The first of a run has nothing before it, and repeats nothing."""
    found, values = flat(runs)

    assert [value for run in runs for value in [-5, *run[:-1]]] == found.before(values, -5).tolist()
    assert [
        at > 0 and run[at] == run[at - 1] for run in runs for at in range(len(run))
    ] == found.repeat(values).tolist()


@given(RUNS)
def test_a_value_for_each_run(runs: list[list[int]]) -> None:
    """What is known of a run is given to each of its rows."""
    found, values = flat(runs)

    assert [run[0] for run in runs for _ in run] == found.spread(values[found.starts]).tolist()
    assert len(runs) == len(found)


@given(st.lists(st.integers(0, 200_000), max_size=30))
def test_order_keeps_the_file_within_a_run(runs: list[int]) -> None:
    """Rows are ordered by run, and within a run as they stand."""
    assert (
        sorted(range(len(runs)), key=lambda row: runs[row])
        == order_by(np.array(runs, np.int64)).tolist()
    )


@given(st.lists(st.integers(-(2**31) + 1, 2**31 - 1), min_size=1, max_size=9))
def test_numbers_add_up_however_far_they_go(steps: list[int]) -> None:
    """Steps of a run add up past 32 bits, and a run beside it counts by itself."""
    total = np.cumsum([7, *steps])
    values = np.concatenate((total, total[:1])).astype(np.uint32)

    assert [*(total - 7).tolist(), 0] == Runs(np.array([0] * len(total) + [1])).unwrapped(
        values
    ).tolist()


def test_numbers_that_wrap() -> None:
    """A sequence number that passes 2^32 goes on counting, and one that goes back counts back."""
    values = np.array([0xFFFFFFF0, 0x10, 0x8, 5, 4], np.uint32)

    assert [0, 32, 24, 0, -1] == Runs(np.array([1, 1, 1, 2, 2])).unwrapped(values).tolist()
    assert [0, 32, 24, 21, 20] == unwrapped(values).tolist()


@given(st.lists(st.integers(0, 9)))
def test_different_values_stand_in_order(values: list[int]) -> None:
    """Each once."""
    assert sorted(set(values)) == distinct(np.array(values, np.uint64)).tolist()


@given(st.lists(st.integers(-9, 9)))
def test_each_value_is_found_where_it_stands_first(values: list[int]) -> None:
    """In the order of the values."""
    expected = [values.index(value) for value in sorted(set(values))]

    assert expected == first_of_each(np.array(values, np.int64)).tolist()


@given(st.lists(st.integers(-9, 9)), st.lists(st.integers(-9, 9)))
def test_values_are_among_known_ones(values: list[int], known: list[int]) -> None:
    """The same as looking each one up."""
    found = are_among(np.array(values, np.int64), np.array(sorted(known), np.int64))

    assert [value in known for value in values] == found.tolist()
