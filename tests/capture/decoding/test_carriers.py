"""IP in what carries it: labels, sessions, mirrors, mobile tunnels, logs."""

from __future__ import annotations

import struct

import pytest

from podpath.net.addresses import Address
from podpath_capture.reading.read import read_capture
from tests.capture import frames

PACKET = frames.ipv4(6, frames.tcp())
PACKET6 = frames.ipv6(6, frames.tcp())
FRAME = frames.ethernet(0x0800, PACKET)
SIX = 0x86DD
LABELS = struct.pack(">II", 100 << 12 | 64, 200 << 12 | 0x100 | 64)


def outer(protocol: int, body: bytes) -> bytes:
    """Make the frame of a tunnel."""
    return frames.ethernet(0x0800, frames.ipv4(protocol, body, ends=("192.0.2.1", "192.0.2.2")))


def gre(kind: int, body: bytes, bits: int = 0, rest: bytes = b"") -> bytes:
    """Make a frame of GRE."""
    return outer(47, struct.pack(">HH", bits, kind) + rest + body)


def pppoe(kind: int, body: bytes) -> bytes:
    """Make a frame of a PPPoE session."""
    return frames.ethernet(0x8864, struct.pack(">BBHHH", 0x11, 0, 7, len(body) + 2, kind) + body)


def gtp(flags: int, options: bytes, body: bytes) -> bytes:
    """Make a datagram of GTP-U."""
    head = struct.pack(">BBHI", 0x30 | flags, 0xFF, len(options + body), 77)
    return outer(17, frames.udp((2152, 2152), head + options + body))


def over_udp(port: int, body: bytes) -> bytes:
    """Make a datagram of a tunnel over UDP."""
    return outer(17, frames.udp((40001, port), body))


def nflog(*attributes: tuple[int, bytes]) -> bytes:
    """Make what netfilter logs, with its attributes."""
    made = b"".join(
        struct.pack("<HH", len(value) + 4, kind) + value + bytes(-len(value) % 4)
        for kind, value in attributes
    )
    return struct.pack(">BBH", 2, 0, 5) + made


AH = struct.pack(">BBHII", 6, 4, 0, 1, 1) + bytes(12)
EXTENDED = bytes((0, 0, 0, 0x85)) + bytes((1, 0, 0, 0))
CASES = {
    "MPLS": (frames.ethernet(0x8847, LABELS + PACKET), 1, 0),
    "MPLS with IPv6": (frames.ethernet(0x8847, LABELS + PACKET6), 1, 0),
    "PPPoE": (pppoe(0x21, PACKET), 1, 0),
    "PPPoE with IPv6": (pppoe(0x57, PACKET6), 1, 0),
    "PPP": (b"\xff\x03\x00\x21" + PACKET, 9, 0),
    "PPP, short": (b"\x21" + PACKET, 9, 0),
    "ERSPAN I": (gre(0x88BE, FRAME), 1, 1),
    "ERSPAN II": (gre(0x88BE, bytes(8) + FRAME, 0x1000, bytes(4)), 1, 1),
    "ERSPAN III": (gre(0x22EB, bytes(12) + FRAME, 0x1000, bytes(4)), 1, 1),
    "ERSPAN III, longer": (
        gre(0x22EB, bytes(11) + b"\x01" + bytes(8) + FRAME, 0x1000, bytes(4)), 1, 1,
    ),
    "MPLS in GRE": (gre(0x8847, LABELS + PACKET), 1, 1),
    "PPTP": (
        gre(0x880B, b"\xff\x03\x00\x21" + PACKET, 0x3081, struct.pack(">HHII", 60, 9, 1, 1)), 1, 1,
    ),
    "GTP-U": (gtp(0, b"", PACKET), 1, 1),
    "GTP-U with a number": (gtp(2, bytes(4), PACKET6), 1, 1),
    "GTP-U with an extension": (gtp(4, EXTENDED, PACKET), 1, 1),
    "GRE in UDP": (over_udp(4754, struct.pack(">HHI", 0x2000, 0x0800, 7) + PACKET), 1, 1),
    "AYIYA with IPv6": (
        over_udp(5072, b"\x44\x52\x11\x29" + bytes(4) + bytes(16) + bytes(20) + PACKET6), 1, 1,
    ),
    "VN-Tag": (frames.ethernet(0x8926, bytes(4) + b"\x08\x00" + PACKET), 1, 0),
    "802.1ah": (frames.ethernet(0x88E7, bytes(4) + FRAME), 1, 0),
    "AH": (frames.ethernet(0x0800, frames.ipv4(51, AH + frames.tcp())), 1, 0),
    "NFLOG": (nflog((1, bytes(4)), (10, b"prefix\0"), (9, PACKET)), 239, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_carried_is_read(name: str) -> None:
    """Ends, ports and how many tunnels it is in, beside a plain packet."""
    frame, link_type, depth = CASES[name]
    packets = read_capture(frames.pcap([frame, frame], link_type=link_type)).packets
    columns, six = packets.columns, "IPv6" in name or name == "GTP-U with a number"

    assert [(6 if six else 4, 6, 40000, 80, depth)] * 2 == list(
        zip(
            columns.version.tolist(), columns.protocol.tolist(), columns.sport.tolist(),
            columns.dport.tolist(), columns.depth.tolist(), strict=True,
        )
    )  # fmt: skip
    if not six:
        assert Address.parse(frames.CLIENT).value == int(columns.src[0])


@pytest.mark.parametrize("name", CASES)
def test_what_is_cut_anywhere_is_read_as_far_as_it_goes(name: str) -> None:
    """Nothing is read past the bytes that were captured."""
    frame, link_type, _ = CASES[name]
    cut = [frame[:size] for size in range(1, len(frame))]
    packets = read_capture(frames.pcap([*cut, frame], link_type=link_type)).packets

    assert len(frame) == len(packets)
    assert 80 == int(packets.columns.dport[-1])
