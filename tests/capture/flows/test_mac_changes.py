"""Frames at which an address' MAC changes, of a capture in one piece or in slabs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from podpath_capture.columns import PacketColumns
from podpath_capture.flows.mac_changes import find_changing_macs
from podpath_capture.reading.narrow import fill_up, take

GROUP = 1 << 40
Frame = tuple[int, int, int, int]


def columns_of(made: Sequence[Frame]) -> PacketColumns:
    """Make the columns of frames, each of (source, destination, their MACs)."""
    table = np.array(made, np.uint64).reshape(-1, 4)
    ends = {name: table[:, at].astype(np.uint32) for at, name in enumerate(("src", "dst"))}
    macs = {name: table[:, at + 2] for at, name in enumerate(("smac", "dmac"))}
    return fill_up(
        {
            "time": np.zeros(len(made), np.int64),
            "version": np.full(len(made), 4, np.uint8),
            **ends,
            **macs,
        }
    )


def rows_of(made: Sequence[Frame], size: int = 1000, most: int = 1000) -> list[int]:
    """Yield the rows, looking at so many frames at once."""
    columns = columns_of(made)

    def slabs() -> Iterator[tuple[int, PacketColumns]]:
        for start in range(0, len(columns), size):
            yield start, take(columns, slice(start, start + size))

    return [int(row) for row in find_changing_macs(slabs, most)]


def test_turns_are_given_with_the_frames_before() -> None:
    """The first and last frame of an address with two MACs, and the two at which it turns; of
    another one nothing.
    """
    one, other, fixed = (1, 2, 7, 9), (1, 2, 8, 9), (3, 2, 5, 9)

    assert [0, 4, 5, 7] == rows_of([one, fixed, one, one, one, other, other, other, fixed])
    assert [] == rows_of([one, fixed, one])


def test_group_macs_are_no_change_of_a_destination() -> None:
    """An address that is reached by its own MAC and by broadcast has one MAC."""
    assert [] == rows_of([(1, 2, 7, 9), (1, 2, 7, GROUP | 5)])
    assert [0, 1] == rows_of([(1, 2, 7, 9), (1, 2, 7, 8)])


@example([(1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 1, 1), (1, 1, 1, 1)], 1)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.sampled_from((1, 2, GROUP))
        ),
        max_size=30,
    ),
    st.integers(1, 8),
)
def test_slabs_say_what_the_whole_says(made: Sequence[Frame], size: int) -> None:
    """However the frames are cut, and the first few of them also where no more are kept."""
    assert rows_of(made) == rows_of(made, size)
    assert rows_of(made)[:2] == rows_of(made, size, most=2)[:2]
