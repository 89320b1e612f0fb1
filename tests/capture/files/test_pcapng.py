"""Sections, interfaces, options, names and counters of pcapng."""

from __future__ import annotations

import struct

import pytest

from podpath_capture.files.pcapng_options import resolution
from podpath_capture.reading.read import read_capture
from tests.capture import frames

SYN = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))
RAW = frames.ipv4(17, frames.udp((7, 53), b""))


def test_interfaces_have_names_types_and_counters() -> None:
    """Each packet belongs to its interface; the last statistics of each hold."""
    named = frames.option(2, b"eth0") + frames.option(0, b"")
    counters = (
        struct.pack("<3I", 0, 0, 0)
        + frames.option(4, struct.pack("<Q", 100))
        + frames.option(5, struct.pack("<Q", 7))
    )
    data = frames.section() + frames.interface(1, named) + frames.interface(101)
    data += frames.packet(SYN) + frames.packet(RAW, 1) + frames.block(5, counters)
    found = read_capture(data)

    assert [("eth0", 1, 100, 7), ("", 101, None, None)] == [
        (each.name, each.link_type, each.received, each.dropped) for each in found.interfaces
    ]
    assert [(0, 80), (1, 53)] == list(
        zip(found.packets.columns.interface, found.packets.columns.dport, strict=True)
    )


@pytest.mark.parametrize("second", ["<", ">"])
def test_sections_number_their_interfaces_anew(second: str) -> None:
    """Interface 0 of the second section is another one, in whichever byte order the section is."""
    data = frames.section() + frames.interface(1) + frames.packet(SYN)
    data += (
        frames.section(second)
        + frames.interface(101, order=second)
        + frames.packet(RAW, order=second)
    )
    found = read_capture(data)

    assert [0, 1] == found.packets.columns.interface.tolist()
    assert [80, 53] == found.packets.columns.dport.tolist()
    assert found.damages == ()


@pytest.mark.parametrize(
    ("code", "ticks", "nanoseconds"),
    [(6, 1_000_001, 1_000_001_000), (9, 1_000_000_001, 1_000_000_001), (3, 1_001, 1_001_000_000), (0, 2, 2_000_000_000),  # noqa: E501
     (12, 1_500_000_000_000, 1_500_000_000), (0x80 | 10, 1024 + 512, 1_500_000_000)],
)  # fmt: skip
def test_time_resolution(code: int, ticks: int, nanoseconds: int) -> None:
    """Ticks of any resolution become nanoseconds; an offset counts whole seconds."""
    options = (
        frames.option(9, bytes([code]))
        + frames.option(14, struct.pack("<q", 100))
        + frames.option(0, b"")
    )
    found = read_capture(
        frames.section() + frames.interface(1, options) + frames.packet(SYN, ticks=ticks)
    )

    assert [nanoseconds + 100 * 10**9] == found.packets.columns.time.tolist()


def test_resolution_is_a_fraction_of_nanoseconds() -> None:
    """A power of two is no whole number of nanoseconds."""
    assert [(1000, 1), (1, 1), (1, 1000), (10**9, 2**20)] == [
        resolution(code) for code in (6, 9, 12, 0x94)
    ]


def test_simple_and_obsolete_packets() -> None:
    """A simple packet block belongs to the first interface and has no time; the obsolete block has
    both.
    """
    simple = frames.block(3, struct.pack("<I", len(SYN)) + SYN)
    old = frames.block(2, struct.pack("<2H4I", 0, 3, 0, 5_000_000, len(SYN), len(SYN)) + SYN)
    found = read_capture(frames.section() + frames.interface(1) + simple + old)

    assert [0, 5 * 10**9] == found.packets.columns.time.tolist()
    assert [80, 80] == found.packets.columns.dport.tolist()


@pytest.mark.parametrize("size", [0, 4])
def test_short_simple_packet_may_end_the_file(size: int) -> None:
    """Nothing is read behind it."""
    data = (
        frames.section()
        + frames.interface(1)
        + frames.block(3, struct.pack("<I", size) + bytes(size))
    )
    found = read_capture(data)

    assert [size] == found.packets.columns.wirelen.tolist()
    assert found.damages == ()


def test_simple_packets_are_cut_at_the_snaplen() -> None:
    """The captured length of a simple packet is the interface's limit."""
    simple = frames.block(3, struct.pack("<I", 1000) + SYN)
    found = read_capture(frames.section() + frames.interface(1, snaplen=len(SYN)) + simple)

    assert [(len(SYN), 1000)] == list(
        zip(found.packets.columns.caplen, found.packets.columns.wirelen, strict=True)
    )


def test_names_of_addresses() -> None:
    """A name resolution block gives names."""
    record = frames.option(1, bytes([10, 0, 0, 1]) + b"client.example\0") + frames.option(0, b"")

    assert {"10.0.0.1": "client.example"} == read_capture(
        frames.section() + frames.block(4, record)
    ).names


def test_packet_of_an_interface_that_is_not_described() -> None:
    """Such a packet cannot be read, and is told."""
    found = read_capture(
        frames.section() + frames.interface(1) + frames.packet(SYN, 5) + frames.packet(SYN)
    )

    assert (1, 1) == (len(found.packets), len(found.damages))


def test_block_with_options_behind_its_packet() -> None:
    """Options of a packet are no part of it."""
    body = (
        struct.pack("<5I", 0, 0, 9, len(SYN), len(SYN))
        + SYN
        + bytes(-len(SYN) % 4)
        + frames.option(1, b"a comment")
    )
    columns = read_capture(
        frames.section() + frames.interface(1) + frames.block(6, body)
    ).packets.columns

    assert [len(SYN)] == columns.caplen.tolist()


@pytest.mark.parametrize("resolution", [0, 1, 9, 28, 43, 127, 0x80, 0xA0, 0xBF, 0xC0, 0xFF])
@pytest.mark.parametrize("shift", [0, -(1 << 63), (1 << 63) - 1])
def test_any_resolution_of_times_is_read(resolution: int, shift: int) -> None:
    """However fine or coarse an interface's ticks are, and whatever it adds to them, the packets
    are read.
    """
    options = frames.option(9, bytes([resolution])) + frames.option(14, struct.pack("<q", shift))
    data = (
        frames.section()
        + frames.interface(options=options)
        + frames.packet(bytes(60), ticks=(1 << 64) - 1)
    )

    assert len(read_capture(data).packets) == 1


def test_ticks_of_a_power_of_two() -> None:
    """Half a second is half of the ticks of a second, also of ticks finer than 64 bits can
    count.
    """
    halves = {32: 1 << 31, 63: 1 << 62, 64: 1 << 63}
    for exponent, ticks in halves.items():
        options = frames.option(9, bytes([0x80 | exponent]))
        data = (
            frames.section()
            + frames.interface(options=options)
            + frames.packet(bytes(60), ticks=ticks)
        )

        assert [500_000_000] == read_capture(data).packets.columns.time.tolist()
