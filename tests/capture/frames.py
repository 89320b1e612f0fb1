"""Frames and capture files made by hand, header by header."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from podpath.net.addresses import Address

MAC_A, MAC_B = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
CLIENT, SERVER = "10.0.0.1", "10.0.0.2"
START = 1_700_000_000


def ethernet(kind: int, body: bytes) -> bytes:
    """Make an Ethernet frame."""
    return MAC_B + MAC_A + struct.pack(">H", kind) + body


def vlan(number: int, kind: int, body: bytes) -> bytes:
    """Make the part of a frame behind a tag's EtherType."""
    return struct.pack(">2H", number, kind) + body


def ipv4(
    protocol: int,
    body: bytes,
    *,
    length: int | None = None,
    fragment: int = 0x4000,
    ends: tuple[str, str] = (CLIENT, SERVER),
) -> bytes:
    """Make an IPv4 packet; `length` is what its header says."""
    total = 20 + len(body) if length is None else length
    addresses = b"".join(Address.parse(end).value.to_bytes(4, "big") for end in ends)
    return (
        struct.pack(">BBHHHBBH", 0x45, 0, total, 0x1234, fragment, 64, protocol, 0)
        + addresses
        + body
    )


def ipv6(
    following: int,
    body: bytes,
    *,
    ends: tuple[str, str] = ("fd00::1", "fd00::2"),
    length: int | None = None,
) -> bytes:
    """Make an IPv6 packet."""
    addresses = b"".join(Address.parse(end).value.to_bytes(16, "big") for end in ends)
    return (
        struct.pack(">IHBB", 6 << 28, len(body) if length is None else length, following, 63)
        + addresses
        + body
    )


def tcp(
    flags: int = 0x02,
    *,
    ports: tuple[int, int] = (40000, 80),
    numbers: tuple[int, int] = (1000, 0),
    options: bytes = b"",
    data: bytes = b"",
) -> bytes:
    """Make a TCP segment; options fill whole words."""
    head = (20 + len(options)) // 4 << 4
    return struct.pack(">HHIIBBHHH", *ports, *numbers, head, flags, 64240, 0, 0) + options + data


def udp(ports: tuple[int, int], body: bytes) -> bytes:
    """Make a UDP datagram."""
    return struct.pack(">4H", *ports, 8 + len(body), 0) + body


def pcap(
    frames: Sequence[bytes],
    *,
    order: str = "<",
    nanoseconds: bool = False,
    link_type: int = 1,
    snaplen: int = 262144,
) -> bytes:
    """Make a pcap file whose packets come a second apart."""
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    head = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, snaplen, link_type)
    records = (
        struct.pack(f"{order}4I", START + number, 5, min(len(frame), snaplen), len(frame))
        + frame[:snaplen]
        for number, frame in enumerate(frames)
    )
    return head + b"".join(records)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """Make a block of pcapng."""
    body += bytes(-len(body) % 4)
    size = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + size + body + size


def option(code: int, value: bytes, order: str = "<") -> bytes:
    """Make an option of a block."""
    return struct.pack(f"{order}2H", code, len(value)) + value + bytes(-len(value) % 4)


def section(order: str = "<") -> bytes:
    """Make a section header block."""
    return block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(
    link_type: int = 1, options: bytes = b"", order: str = "<", snaplen: int = 0
) -> bytes:
    """Make an interface description block."""
    return block(1, struct.pack(f"{order}2HI", link_type, 0, snaplen) + options, order)


def packet(
    frame: bytes, number: int = 0, ticks: int = START * 1_000_000, order: str = "<"
) -> bytes:
    """Make an enhanced packet block."""
    head = struct.pack(
        f"{order}5I", number, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame)
    )
    return block(6, head + frame, order)
