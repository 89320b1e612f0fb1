"""Packets in words."""

from __future__ import annotations

import struct

import pytest

from podpath_capture.journeys.packet_words import name_packet
from podpath_capture.matching.joined import Joined
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames


@pytest.mark.parametrize(
    ("protocol", "body", "name"),
    [
        (6, frames.tcp(0x02), "SYN"),
        (6, frames.tcp(0x12), "SYN-ACK"),
        (6, frames.tcp(0x10), "ACK"),
        (6, frames.tcp(0x14), "RST"),
        (6, frames.tcp(0x11), "FIN"),
        (6, frames.tcp(0x18, data=bytes(20)), "data 1:21"),
        (17, frames.udp((1, 2), b"abc"), "UDP 3"),
        (1, struct.pack(">BBHHH", 8, 0, 0, 1, 9), "echo request 9"),
        (1, struct.pack(">BBHHH", 0, 0, 0, 1, 9), "echo reply 9"),
    ],
)
def test_a_packet_is_named_as_engineers_name_it(protocol: int, body: bytes, name: str) -> None:
    """Each kind has its word; data have their bytes."""
    capture = read_capture(frames.pcap([frames.ethernet(0x0800, frames.ipv4(protocol, body))]))
    joined = Joined([CapturedFile(name="a", capture=capture)])

    assert name == name_packet(joined, 0, 1, 21 if name.startswith("data") else 2)
