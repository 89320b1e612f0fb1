"""The key of a packet: what leaves it alone, and what changes it."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.made_capture import make_capture
from podpath_capture.matching.identity import (
    digest_payloads,
    digest_width,
    group_equal,
    has_identification,
    make_both_keys,
    make_keys,
    mix,
    without_numbers,
)
from podpath_capture.reading.read import read_capture
from tests.capture import frames

STAMPS = struct.pack(">BBBBII", 1, 1, 8, 10, 5000, 4000)


def keys(*packets: bytes, identified: bool = True) -> list[int]:
    """Return the keys of IP packets, in Ethernet."""
    data = frames.pcap([frames.ethernet(0x0800, packet) for packet in packets])
    columns = read_capture(data).packets.columns
    digest = digest_payloads(columns, np.frombuffer(data, np.uint8), 64, without_numbers(columns))
    return [int(key) for key in make_keys(columns, digest, identified=identified)]


def segment(
    ports: tuple[int, int] = (40000, 80), numbers: tuple[int, int] = (7, 9), data: bytes = b"x"
) -> bytes:
    """Make a TCP segment."""
    return frames.tcp(0x18, ports=ports, numbers=numbers, options=STAMPS, data=data)


def test_nat_and_routers_leave_the_key_alone() -> None:
    """New addresses, ports, TTL and tunnels change nothing."""
    plain = frames.ipv4(6, segment())
    translated = bytearray(frames.ipv4(6, segment((1, 2)), ends=("9.9.9.9", "8.8.8.8")))
    translated[8] = 3
    content = struct.pack(">II", 0x08000000, 256) + frames.ethernet(0x0800, plain)
    tunnelled = frames.ipv4(17, frames.udp((5, 8472), content), ends=("1.1.1.1", "2.2.2.2"))

    assert 1 == len(set(keys(plain, bytes(translated), tunnelled)))


@pytest.mark.parametrize(
    "other",
    [segment(numbers=(8, 9)), segment(numbers=(7, 10)), segment(data=b"xy")],
    ids=["seq", "ack", "len"],
)
def test_other_packets_have_other_keys(other: bytes) -> None:
    """What a sender changes from packet to packet is in the key."""
    first, second = keys(frames.ipv4(6, segment()), frames.ipv4(6, other))

    assert first != second


def test_identification_tells_copies_apart() -> None:
    """A segment that is sent again has another identification; the loose key does not look at
    it.
    """
    again = bytearray(frames.ipv4(6, segment()))
    again[5] += 1

    assert [2, 1] == [
        len(set(keys(frames.ipv4(6, segment()), bytes(again), identified=strict)))
        for strict in (True, False)
    ]


def test_datagrams_are_told_by_what_they_carry() -> None:
    """UDP has no numbers of its own; bytes past the end of a short one are not looked at."""
    first, second, third = keys(
        *(frames.ipv4(17, frames.udp((9, 53), body)) for body in (b"ab", b"ac", b"ab"))
    )

    assert first == third != second


def test_digests_go_as_far_as_every_capture_shows() -> None:
    """A snapshot length limits what is compared; a printed capture shows nothing."""
    data = frames.pcap(
        [frames.ethernet(0x0800, frames.ipv4(17, frames.udp((9, 53), bytes(100))))], snaplen=60
    )
    columns, view = read_capture(data).packets.columns, np.frombuffer(data, np.uint8)

    rows = without_numbers(columns)

    assert [18, 0] == [
        digest_width([(columns, view, rows)]),
        digest_width([(columns, view, rows), (columns, None, rows)]),
    ]


def test_both_keys_are_those_of_each() -> None:
    """Keys that are made together are those that are made one by one, of all packets or of some."""
    columns = read_capture(make_capture(3000, seed=4).data).packets.columns
    digest = np.arange(len(columns), dtype=np.uint64) << np.uint64(20)
    some = np.arange(5, len(columns), 7)
    for mixed in (None, digest):
        strict, loose = np.zeros_like(digest), np.zeros_like(digest)
        make_both_keys(columns, mixed, strict, loose)

        assert np.array_equal(strict, make_keys(columns, mixed))
        assert np.array_equal(loose, make_keys(columns, mixed, identified=False))
        assert np.array_equal(strict[some], make_keys(columns, mixed, some))


def test_captures_without_identification() -> None:
    """Where all identifications are 0, none were printed."""
    zero = bytearray(frames.ipv4(6, segment()))
    zero[4:6] = b"\0\0"
    shown, hidden = (
        read_capture(frames.pcap([frames.ethernet(0x0800, bytes(packet))])).packets.columns
        for packet in (frames.ipv4(6, segment()), zero)
    )

    assert (True, False) == (has_identification(shown), has_identification(hidden))


@given(st.lists(st.integers(0, 9)))
def test_equal_keys_are_grouped(drawn: list[int]) -> None:
    """Each packet finds the first one with its key."""
    words = mix(np.array(drawn, np.uint64))

    assert [drawn.index(each) for each in drawn] == group_equal(words).tolist()


@given(st.lists(st.integers(0, 3), max_size=50))
def test_keys_that_differ_in_few_bits_are_not_mixed_up(drawn: list[int]) -> None:
    """Keys whose upper bits agree are still told apart."""
    words = np.array(drawn, np.uint64)

    assert [drawn.index(each) for each in drawn] == group_equal(words).tolist()
