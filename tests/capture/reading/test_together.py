"""Workers that share a capture give what one alone gives, wherever it is cut."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import pytest

from bench.made_capture import make_capture
from podpath.capture.workers import AllGather, LostError
from podpath_capture.reading.read import DecodedCapture, read_capture
from podpath_capture.reading.together import TooManyPacketsError
from tests.capture import frames
from tests.capture.decoding.test_layers import KINDS

T = TypeVar("T")


class Threads:
    """Workers of this process, which all see its memory."""

    def __init__(self, size: int, *, lost: int = -1) -> None:
        """Take the number of workers, and which of them is lost."""
        self.size, self.lost, self.runs = size, lost, 0

    @staticmethod
    def share(size: int) -> memoryview:
        """Return zeros."""
        return memoryview(bytearray(size))

    @staticmethod
    def load(start: int, stop: int) -> None:
        """Look at what is loaded: it lies in the file."""
        assert 0 <= start <= stop

    def run(self, work: Callable[[int, AllGather], T]) -> list[T]:
        """Run all workers, each with its own thread."""
        self.runs += 1
        if self.lost >= 0:
            raise LostError("one is lost")
        said: list[Any] = [None] * self.size
        barrier = threading.Barrier(self.size)

        def attend(number: int) -> T:
            def meet(value: Any) -> list[Any]:  # noqa: ANN401 - whatever the work says
                said[number] = value
                barrier.wait(60)
                met = list(said)
                barrier.wait(60)
                return met

            return work(number, meet)

        with ThreadPoolExecutor(self.size) as pool:
            return list(pool.map(attend, range(self.size)))


def assert_same(one: DecodedCapture, other: DecodedCapture) -> None:
    """Compare all that two readings of a file gave."""
    for table in ("columns", "arps", "quotes"):
        ours, theirs = getattr(one.packets, table), getattr(other.packets, table)
        for field in fields(ours):
            mine, its = getattr(ours, field.name), getattr(theirs, field.name)
            assert mine.dtype == its.dtype, field.name
            assert np.array_equal(mine, its), field.name
    assert one.packets.addresses == other.packets.addresses
    assert (one.damages, one.interfaces, one.names) == (
        other.damages,
        other.interfaces,
        other.names,
    )


def mixture(count: int) -> list[bytes]:
    """Return packets of every kind, in an order that repeats nothing."""
    draw = np.random.default_rng(7)
    return [KINDS[kind] for kind in draw.integers(0, len(KINDS), count).tolist()]


@pytest.mark.parametrize("size", [2, 3, 5])
def test_workers_give_what_one_gives(size: int) -> None:
    """Columns, ARP, quotes and the numbers of IPv6 addresses are the same, in TCP talks and in a
    mixture of all headers.
    """
    for data in (make_capture(6_000, vxlan=0.2).data, frames.pcap(mixture(6_000))):
        workers = Threads(size)

        assert_same(read_capture(data, workers), read_capture(data))
        assert workers.runs == 1


def test_workers_share_blocks_of_pcapng() -> None:
    """Of pcapng, whose blocks have to be read in order, the packets are decoded together."""
    head = frames.section() + frames.interface() + frames.interface(101)
    body = b"".join(
        frames.packet(frame[14 * (at % 2) :], at % 2) for at, frame in enumerate(mixture(3_000))
    )
    workers = Threads(3)

    assert_same(read_capture(head + body, workers), read_capture(head + body))
    assert workers.runs == 1


def test_damage_is_told_once_and_in_order() -> None:
    """Broken lengths in the stretches of several workers, and a cut end, are told as one worker
    tells them.
    """
    data = bytearray(make_capture(6_000).data[:-7])
    places = np.cumsum(
        [24] + [int(size) + 16 for size in read_capture(bytes(data)).packets.columns.caplen]
    )
    for row in (500, 2_500, 4_500):
        struct.pack_into("<I", data, int(places[row]) + 8, 0x7FFFFFFF)
    alone = read_capture(bytes(data))

    assert len(alone.damages) == 4
    assert_same(read_capture(bytes(data), Threads(3)), alone)


def test_stretches_that_do_not_meet_are_read_by_one() -> None:
    """A capture inside of packets misleads a worker about where records begin; then one reads
    all.
    """
    inner = frames.pcap([bytes(80)] * 300)[24:]
    data = frames.pcap(
        [frames.ethernet(0x88B5, bytes([number]) * 3 + inner) for number in range(60)]
    )
    workers = Threads(4)

    assert len(read_capture(data, workers).packets) == 60
    assert_same(read_capture(data, workers), read_capture(data))


def test_a_lost_worker_costs_nothing_but_time() -> None:
    """Where a worker was lost, one reads all."""
    data = make_capture(2_000).data

    assert_same(read_capture(data, Threads(2, lost=1)), read_capture(data))


@pytest.mark.parametrize(
    "data", [frames.pcap([]), frames.pcap(KINDS[:2]), frames.pcap(KINDS[:1])[:20], frames.section()]
)
def test_captures_too_short_to_share(data: bytes) -> None:
    """Nothing to share is read as ever."""
    assert_same(read_capture(data, Threads(2)), read_capture(data))


@pytest.mark.parametrize("size", [1, 3])
def test_capture_that_is_too_long_is_left(size: int) -> None:
    """Nothing is decoded of more packets than are to be held; exactly so many are read."""
    made = frames.pcap(mixture(60))
    count = len(read_capture(made).packets)

    assert count == len(read_capture(made, Threads(size), count).packets)
    with pytest.raises(TooManyPacketsError):
        read_capture(made, Threads(size), count - 1)
