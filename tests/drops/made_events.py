"""Keys and events as the program writes them, from packets."""

from __future__ import annotations

import socket
import struct

from podpath.drops.headers import ARP, IPV4, IPV6
from podpath.drops.program import EVENT, KEY, PACKET
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet


def emit_ip(packet: Packet) -> bytes:
    """Return a packet's IP and transport headers."""
    body = _emit_transport(packet)
    if packet.family == 6:
        head = struct.pack(
            "!IHBB", 6 << 28 | packet.tos << 20, packet.length - 40, packet.protocol, packet.ttl
        )
        return head + _bytes(packet.src) + _bytes(packet.dst) + body
    fragment = packet.dont_fragment << 14 | (185 if packet.fragment else 0)
    head = struct.pack(
        "!BBHHHBBH", 0x45, packet.tos, packet.length, 1, fragment, packet.ttl, packet.protocol, 0
    )
    return head + _bytes(packet.src) + _bytes(packet.dst) + body


def _emit_transport(packet: Packet) -> bytes:
    if packet.fragment:
        return bytes(16)
    if packet.protocol == protocols.TCP:
        return struct.pack(
            "!HHIIBBHHH",
            packet.sport,
            packet.dport,
            packet.seq,
            packet.ack,
            0x50,
            packet.flags,
            0,
            0,
            0,
        )
    if packet.protocol == protocols.UDP:
        return struct.pack("!HHHH", packet.sport, packet.dport, 8 + packet.payload, 0)
    return struct.pack("!BBHHH", packet.icmp_type, packet.icmp_code, 0, packet.sport, 0)


def _bytes(address: Address) -> bytes:
    return address.value.to_bytes(4 if address.family == 4 else 16, "big")


def emit_key(
    packet: Packet,
    *,
    reason: int = 12,
    inode: int = 7,
    ifindex: int = 2,
    came: int = 2,
    arp: bool = False,
) -> bytes:
    """Return the key that the program makes of a packet."""
    kind = ARP if arp else IPV4 if packet.family == 4 else IPV6
    sport, dport = packet.sport, packet.dport
    if packet.protocol in (protocols.ICMP, protocols.ICMPV6):
        sport, dport = packet.icmp_type << 8 | packet.icmp_code, 0
    if packet.fragment or arp:
        sport = dport = 0
    protocol = 0 if arp else packet.protocol
    return KEY.pack(
        0xFFFFFFFF81A00012, reason, inode, ifindex, came, kind.to_bytes(2, "big"), protocol,
        packet.flags & 0x17, socket.htons(sport), socket.htons(dport), _bytes(packet.src),
        _bytes(packet.dst),
    )  # fmt: skip


def emit_event(
    packet: Packet, key: bytes, *, status: int = 0, began: bytes = b"", tag: int = 0
) -> bytes:
    """Return the event that the program sends of a packet."""
    data = emit_ip(packet)
    macs = bytes.fromhex("020000000002020000000001") + b"\x08\x00"
    return EVENT.pack(
        key,
        5_000_000_000,
        packet.length,
        3,
        status,
        len(data),
        tag,
        0,
        1,
        macs,
        began,
        data.ljust(PACKET, b"\xaa"),
    )
