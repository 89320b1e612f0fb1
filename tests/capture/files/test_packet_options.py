"""Options of packets tell of comments, of drops, and of numbers that leave some out."""

from __future__ import annotations

import struct

import pytest

from podpath_capture.reading.read import read_capture
from tests.capture import frames

SYN = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))


def packet(*options: tuple[int, bytes], order: str = "<") -> bytes:
    """Make a packet with options."""
    plain = frames.packet(SYN, order=order)[8:-4]
    listed = b"".join(frames.option(code, value, order) for code, value in options)
    return frames.block(6, plain + listed + frames.option(0, b"", order), order)


def numbered(number: int, order: str = "<") -> bytes:
    """Make a packet with an identifier, behind its flags."""
    flags, identifier = struct.pack(f"{order}I", 1), struct.pack(f"{order}Q", number)
    return packet((2, flags), (5, identifier), order=order)


def told(*packets: bytes, order: str = "<") -> list[tuple[int, str]]:
    """Return what a file of these packets tells, with how many of them stand before it."""
    start = frames.section(order) + frames.interface(order=order)
    sizes = [len(start)]
    for each in packets:
        sizes.append(sizes[-1] + len(each))
    found = read_capture(start + b"".join(packets)).omissions
    return [(sum(size <= each.offset for size in sizes) - 1, each.why) for each in found]


def test_comment_says_that_the_file_was_written_again() -> None:
    """The first one is told, once."""
    commented = packet((1, b"look here"))

    assert [
        (1, "a packet has a comment: a program wrote the file again after it was captured")
    ] == (told(packet(), commented, commented))


def test_drops_before_packets_are_counted() -> None:
    """Packets before which none was dropped say so with 0."""
    none, some = (packet((4, struct.pack("<Q", count))) for count in (0, 3))

    assert [(1, "6 packets were dropped before others, by the file's own count")] == (
        told(none, some, none, some)
    )


def test_drops_that_no_word_holds_are_counted() -> None:
    """Counts that a damaged file gives do not cancel one another."""
    many = packet((4, struct.pack("<Q", 1 << 63)))
    ((_, why),) = told(many, many)

    assert why.startswith(f"{1 << 64} packets were dropped")


@pytest.mark.parametrize("order", ["<", ">"])
def test_numbers_that_leave_out_packets(order: str) -> None:
    """Equal ones are one packet at two interfaces; numbers that go down count nothing."""
    counted = [numbered(number, order) for number in (7, 8, 8, 12)]

    assert [(3, "the file's numbers of packets leave out 3")] == told(*counted, order=order)
    assert [] == told(*counted[:3], order=order)
    assert [] == told(*counted, numbered(1, order), order=order)


def test_options_that_are_cut_end_early() -> None:
    """A length that goes beyond the packet's block, or too short a number, tells nothing."""
    beyond = frames.block(6, frames.packet(SYN)[8:-4] + struct.pack("<2H", 4, 60000))

    assert [] == told(beyond, packet((4, b"\1\0\0\0")), packet((5, b"")))
