"""Bytes compared between passages, whatever segments they are in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podpath_capture.matching.byte_ranges import (
    PassageSegments,
    carries_data,
    cut_to_segments,
    pair_bytes,
    sign_ranges,
)
from podpath_capture.matching.copies import Item
from podpath_capture.matching.joined import Joined
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames

Ranges = list[tuple[int, int]]


def segments(*ranges: tuple[int, int, int], first: int = 0) -> PassageSegments:
    """Make the data of a passage: begin, end and time of each segment."""
    order = sorted(range(len(ranges)), key=lambda at: ranges[at][0])
    columns = np.array([ranges[at] for at in order], np.int64).reshape(-1, 3)
    longest = int((columns[:, 1] - columns[:, 0]).max()) if len(columns) else 0
    return PassageSegments(
        np.array(order) + first,
        columns[:, 0],
        columns[:, 1],
        columns[:, 2],
        columns[:, 2] * 0,
        longest,
    )


def test_offload_changes_nothing() -> None:
    """One large segment and the small ones that it becomes are the same bytes."""
    whole, cut = (
        segments((0, 3000, 0)),
        segments((0, 1000, 0), (1000, 2000, 1), (2000, 3000, 2), first=10),
    )

    assert [] == pair_bytes([whole, cut])


def test_missing_bytes_name_the_packet_that_had_them() -> None:
    """Bytes that follow each other in one packet are one piece; a packet of its own is another."""
    whole = segments((0, 3000, 0), (3000, 4000, 5))
    cut = segments((0, 1000, 0), first=10)

    assert [Item((0, -1), 1000, 3000), Item((1, -1), 3000, 4000)] == pair_bytes([whole, cut])
    assert [
        Item((0, 10), 0, 1000),
        Item((0, -1), 1000, 3000),
        Item((1, -1), 3000, 4000),
    ] == pair_bytes([whole, cut], every=True)


def test_a_lost_copy_of_bytes_that_were_sent_again() -> None:
    """What came at last is the second copy; the first one is missing."""
    sent, came = segments((0, 1000, 0), (0, 1000, 250)), segments((0, 1000, 251), first=10)

    assert [Item((0, -1), 0, 1000)] == pair_bytes([sent, came])


def test_bytes_that_a_later_passage_does_not_show_are_told_where_they_were_last() -> None:
    """Three passages: the middle one names the packet."""
    one, two, three = (
        segments((0, 2000, 0)),
        segments((0, 1000, 1), (1000, 2000, 1), first=10),
        segments((0, 1000, 2), first=20),
    )

    assert [Item((0, 11, -1), 1000, 2000)] == pair_bytes([one, two, three])


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(1, 5000), min_size=1, max_size=8),
    st.integers(1, 9),
)
def test_signatures_do_not_depend_on_segments(start: int, lengths: list[int], size: int) -> None:
    """However bytes are cut, the sum is the same; with a byte less it is another. Numbers may
    wrap.
    """

    def sign(parts: list[int]) -> int:
        begins = (start + np.concatenate(([0], np.cumsum(parts[:-1], dtype=np.int64)))) % 2**32
        return int(sign_ranges(begins.astype(np.uint32), np.array(parts, np.int64)).sum())

    total = sum(lengths)
    cut = [size] * (total // size) + ([total % size] if total % size else [])

    assert sign(lengths) == sign(cut) != sign([*lengths, 1])


def test_sequence_numbers_become_bytes() -> None:
    """Numbers wrap, FINs count as a byte, and packets without either are no data."""
    base = 0xFFFFFF00
    packets = [
        frames.tcp(0x18, numbers=(base + 1, 1), data=bytes(300)),
        frames.tcp(0x11, numbers=((base + 301) % 2**32, 1)),
        frames.tcp(0x10, numbers=(base, 1)),
        frames.tcp(0x18, numbers=(base - 1, 1), data=b"k"),
    ]
    capture = read_capture(
        frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, packet)) for packet in packets])
    )
    joined = Joined([CapturedFile(name="a", capture=capture)])
    data = np.flatnonzero(carries_data(joined, np.arange(len(joined))))
    found = cut_to_segments(joined, data, joined.column("time")[data], base)

    assert [0, 1, 3] == data.tolist()
    assert [(-1, 0), (1, 301), (301, 302)] == list(
        zip(found.start.tolist(), found.end.tolist(), strict=True)
    )
