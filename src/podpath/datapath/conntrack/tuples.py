"""Tuples of packets, their inverses, and the keys that tables look them up by (nf_conntrack_core.c
v6.12).
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.node.netfilter import ConnTuple

Key = tuple[int, int, int, int, int, int, int]
"""Source, destination, protocol (with the family), ports, ICMP kind, zone: plain numbers, since
every packet makes one.
"""

PORTED = frozenset({protocols.TCP, protocols.UDP, protocols.UDPLITE, protocols.SCTP, 33})
ICMPS = frozenset({protocols.ICMP, protocols.ICMPV6})

ICMP_INVERSE: Mapping[int, int] = {8: 0, 0: 8, 13: 14, 14: 13, 15: 16, 16: 15, 17: 18, 18: 17}
"""`nf_conntrack_invert_icmp_tuple`: queries and their answers."""
ICMPV6_INVERSE: Mapping[int, int] = {128: 129, 129: 128, 139: 140, 140: 139}
ICMP_OPENERS = frozenset({8, 13, 15, 17})
"""ICMP types that start a connection (`nf_conntrack_icmp_packet`)."""
ICMPV6_OPENERS = frozenset({128, 139})


def packet_key(packet: Packet, zone: int) -> Key:
    """Return the key of a packet's own tuple."""
    protocol = packet.protocol
    if protocol in PORTED:
        return (
            packet.src.value,
            packet.dst.value,
            protocol | packet.family << 8,
            packet.sport,
            packet.dport,
            0,
            zone,
        )
    if protocol in ICMPS:
        kind = packet.icmp_type << 8 | packet.icmp_code
        return (
            packet.src.value,
            packet.dst.value,
            protocol | packet.family << 8,
            packet.sport,
            packet.sport,
            kind,
            zone,
        )
    return (packet.src.value, packet.dst.value, protocol | packet.family << 8, 0, 0, 0, zone)


def tuple_key(entry: ConnTuple, kind: int, zone: int) -> Key:
    """Return the key of one direction of a connection."""
    return (
        entry.src.value,
        entry.dst.value,
        entry.protocol | entry.src.family << 8,
        entry.sport,
        entry.dport,
        kind,
        zone,
    )


def packet_tuple(packet: Packet) -> ConnTuple:
    """Return a packet's tuple."""
    protocol = packet.protocol
    if protocol in PORTED:
        return ConnTuple(packet.src, packet.dst, protocol, packet.sport, packet.dport)
    if protocol in ICMPS:
        return ConnTuple(packet.src, packet.dst, protocol, packet.sport, packet.sport)
    return ConnTuple(packet.src, packet.dst, protocol)


def packet_kind(packet: Packet) -> int:
    """Return the ICMP type << 8 | code of a packet; 0 for other protocols."""
    if packet.protocol in ICMPS:
        return packet.icmp_type << 8 | packet.icmp_code
    return 0


def inverse(entry: ConnTuple) -> ConnTuple:
    """Return the tuple of the answers."""
    return ConnTuple(entry.dst, entry.src, entry.protocol, entry.dport, entry.sport)


def inverse_kind(protocol: int, kind: int) -> int | None:
    """Return the ICMP kind of the answers; None where the type has none, so that the packet is
    invalid.
    """
    if protocol not in ICMPS:
        return 0
    answer = (ICMP_INVERSE if protocol == protocols.ICMP else ICMPV6_INVERSE).get(kind >> 8)
    if answer is None:
        return None
    return answer << 8 | kind & 0xFF
