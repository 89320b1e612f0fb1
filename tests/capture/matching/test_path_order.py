"""The order of points where times alone do not tell it."""

from __future__ import annotations

import struct

from podpath_capture.matching.matching import match_captures
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames
from tests.capture.planted import Shot, write_pcap

SYN, ANSWER = (
    frames.tcp(0x02, numbers=(500, 0)),
    frames.tcp(0x12, ports=(80, 40000), numbers=(900, 501)),
)


def cooked(ifindex: int, kind: int, packet: bytes) -> bytes:
    """Make a packet of a capture on `any`."""
    return struct.pack(">HHIHBB8s", 0x0800, 0, ifindex, 1, kind, 6, frames.MAC_A) + packet


def order(*shots: tuple[int, int, int, bytes]) -> list[int]:
    """Return the devices that the client's packets pass, of packets at times on devices."""
    data = write_pcap(
        [Shot(10**18 + at, cooked(ifindex, kind, packet)) for at, ifindex, kind, packet in shots],
        link_type=276,
    )
    matching = match_captures([CapturedFile(name="any", capture=read_capture(data))])
    return [
        int(matching.points[passage.point].device.split()[1])
        for passage in matching.connection(0).forward.passages
    ]


def reply() -> bytes:
    """Make the server's answer."""
    return frames.ipv4(6, ANSWER, ends=(frames.SERVER, frames.CLIENT))


def test_one_stamp_is_ordered_by_the_way_back() -> None:
    """A port hands a packet to its bridge with the stamp that it has; on the way back each device
    stamps it anew.
    """
    asked = frames.ipv4(6, SYN)

    assert [7, 3] == order(
        (0, 3, 0, asked), (0, 7, 0, asked), (90, 3, 4, reply()), (95, 7, 4, reply())
    )


def test_one_stamp_is_ordered_by_the_ttl() -> None:
    """A router takes one off."""
    asked = bytearray(frames.ipv4(6, SYN))
    asked[8] -= 1

    assert [7, 3] == order((0, 3, 0, bytes(asked)), (0, 7, 0, frames.ipv4(6, SYN)))


def test_one_stamp_is_ordered_by_the_tunnel() -> None:
    """A packet stands plain before it stands in a tunnel."""
    asked = frames.ipv4(6, SYN)

    assert [7, 3] == order((0, 3, 4, frames.ipv4(4, asked)), (0, 7, 4, asked))


def test_one_stamp_is_ordered_by_the_file() -> None:
    """Where nothing else tells, the file's order does."""
    asked = frames.ipv4(6, SYN)

    assert [7, 3] == order((0, 7, 0, asked), (0, 3, 0, asked))


def test_segments_that_were_all_put_together_are_ordered_by_where_they_begin() -> None:
    """Passages that share no packet are still compared."""
    whole = frames.ipv4(6, frames.tcp(0x18, numbers=(500, 7), data=bytes(2896)))
    first = frames.ipv4(6, frames.tcp(0x18, numbers=(500, 7), data=bytes(1448)))
    second = frames.ipv4(6, frames.tcp(0x18, numbers=(1948, 7), data=bytes(1448)))

    assert [7, 3] == order((5, 3, 4, first), (6, 3, 4, second), (1, 7, 0, whole))
