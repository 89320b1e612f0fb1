"""Narrow columns: what is kept is what was read, in its order, with one number for each IPv6
address of the whole capture.
"""

from __future__ import annotations

import numpy as np

from podpath_capture.files.index import Contents
from podpath_capture.reading.narrow import KEPT, WIDTH, Narrow, decode_rows, take
from podpath_capture.reading.read import read_batches, read_capture
from tests.capture import frames
from tests.capture.stores import Memory

SIX = [
    frames.ethernet(
        0x86DD,
        frames.ipv6(
            6,
            frames.tcp(ports=(40000 + number, 80)),
            ends=(f"fd00::{number % 3}", f"fd00::{number}"),
        ),
    )
    for number in range(7)
]


def test_batches_come_back_as_one_capture() -> None:
    """Each kept column is that of the whole capture; one that is not kept is zero, and takes no
    memory.
    """
    data = frames.pcap([*SIX, frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))])
    whole, contents, narrow = read_capture(data), Contents(), Narrow(Memory())
    for packets in read_batches(data, contents, batch=2):
        narrow.add(packets)

    assert whole.packets.addresses == narrow.addresses
    for name in KEPT:
        assert np.array_equal(
            getattr(whole.packets.columns, name), getattr(narrow.columns, name)
        ), name
    assert (0, (0,)) == (int(narrow.columns.tsval.sum()), narrow.columns.tsval.strides)
    assert [(0, 3), (3, 3), (6, 2)] == [(start, len(columns)) for start, columns in narrow.slabs(3)]
    assert WIDTH == sum(
        column.itemsize for name in KEPT for column in [getattr(narrow.columns, name)]
    )


def test_rows_are_read_with_all_columns_again() -> None:
    """Of some packets the file gives what was left out."""
    data = frames.pcap(SIX)
    contents, narrow = Contents(), Narrow(Memory())
    for packets in read_batches(data, contents):
        narrow.add(packets)
    rows = np.array([1, 4])
    read = decode_rows(np.frombuffer(data, np.uint8), narrow.columns, contents.interfaces, rows)

    assert (
        [40001, 40004] == read.columns.sport.tolist() == take(narrow.columns, rows).sport.tolist()
    )
    assert [63, 63] == read.columns.ttl.tolist()


def test_nothing_added_gives_no_packet() -> None:
    """A capture without packets has columns all the same."""
    assert 0 == len(Narrow(Memory()).columns)
