"""Copies of packets told apart."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podpath_capture.matching.copies import Copy, Item, align, leave_out_repeats, pair_packets
from podpath_capture.matching.joined import Joined
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames
from tests.capture.planted import MILLISECOND, Shot, write_pcap


def copies(*times: int, stamps: tuple[int, ...] = ()) -> list[Copy]:
    """Make copies at times; a copy's row is its time."""
    return [Copy(time, time, stamps[at] if stamps else 0) for at, time in enumerate(times)]


def test_copies_are_paired_with_the_nearest() -> None:
    """Of three copies the middle one was lost."""
    assert [(0, 1), (100, -1), (200, 201)] == align([copies(0, 100, 200), copies(1, 201)])


def test_stamps_decide_over_times() -> None:
    """A copy that was held up for long is known by its timestamp."""
    assert [(0, -1), (100, 160)] == align([copies(0, 100, stamps=(5, 6)), copies(160, stamps=(6,))])
    assert [(0, 160), (100, -1)] == align([copies(0, 100, stamps=(5, 6)), copies(160, stamps=(5,))])


@given(st.lists(st.integers(0, 50), max_size=6), st.lists(st.integers(0, 50), max_size=6))
def test_every_copy_is_paired_once_and_in_order(one: list[int], other: list[int]) -> None:
    """Nothing is lost in pairing, and no two copies swap their places."""
    sides = [[Copy(at, time, 0) for at, time in enumerate(sorted(times))] for times in (one, other)]
    paired = align(sides)

    assert max(len(one), len(other)) == len(paired)
    for side, times in enumerate((one, other)):
        assert list(range(len(times))) == [rows[side] for rows in paired if rows[side] >= 0]


def joined(*captures: list[tuple[int, bytes]]) -> tuple[Joined, list[np.ndarray]]:
    """Join captures of IP packets at milliseconds, and give the rows of each."""
    files = []
    for at, shots in enumerate(captures):
        data = write_pcap(
            [Shot(time * MILLISECOND, frames.ethernet(0x0800, packet)) for time, packet in shots]
        )
        files.append(CapturedFile(name=str(at), capture=read_capture(data)))
    put = Joined(files)
    return put, [np.arange(put.starts[at], put.starts[at + 1]) for at in range(len(captures))]


def renamed(packet: bytes, ident: int) -> bytes:
    """Give a packet another IP identification."""
    return packet[:4] + struct.pack(">H", ident) + packet[6:]


def test_a_box_that_rewrites_identifications() -> None:
    """A packet with another identification behind a box is the same packet, where nothing else is
    like it.
    """
    syn, ack = frames.ipv4(6, frames.tcp(0x02)), frames.ipv4(6, frames.tcp(0x10))
    put, rows = joined([(0, syn), (1, ack)], [(0, renamed(syn, 77)), (1, renamed(ack, 78))])
    items = pair_packets(put, [(some, put.column("time")[some]) for some in rows])

    assert [Item((0, 2)), Item((1, 3))] == sorted(items)


def test_what_every_passage_shows_once_is_left_out() -> None:
    """Unless every packet is asked for."""
    syn = frames.ipv4(6, frames.tcp(0x02))
    put, rows = joined([(0, syn)], [(0, syn)])
    passages = [(some, put.column("time")[some]) for some in rows]

    assert ([], [Item((0, 1))]) == (
        pair_packets(put, passages),
        pair_packets(put, passages, every=True),
    )


def test_repeats_of_a_capture_are_left_out() -> None:
    """The same identification twice within a moment is the same packet; without one, only where the
    capture repeats others.
    """
    named, nameless = frames.ipv4(6, frames.tcp(0x10)), renamed(frames.ipv4(6, frames.tcp(0x12)), 0)
    put, (rows,) = joined([(0, named), (0, named), (1, nameless), (1, nameless), (500, named)])
    alone, (some,) = joined([(0, named), (1, nameless), (1, nameless)])

    assert [0, 2, 4] == leave_out_repeats(put, rows, repeating=True).tolist()
    assert [0, 1, 2] == leave_out_repeats(alone, some, repeating=False).tolist()
