"""ICMP messages as conntrack sees them (nf_conntrack_proto_icmp.c and nf_conntrack_proto_icmpv6.c
v6.12).
"""

from __future__ import annotations

from podpath.datapath.conntrack.connection import Connection, Zone
from podpath.datapath.conntrack.table import ConntrackTable
from podpath.datapath.conntrack.tuples import (
    ICMP_OPENERS,
    ICMPV6_OPENERS,
    inverse,
    inverse_kind,
    packet_kind,
    packet_tuple,
    tuple_key,
)
from podpath.datapath.reasons import tracking
from podpath.datapath.reasons.tracking import InvalidReason
from podpath.net import protocols
from podpath.net.packet import Packet

ICMP_ERRORS = frozenset({3, 4, 5, 11, 12})
ICMP_HIGHEST = 18
ICMPV6_QUERIES = 128
"""ICMPv6 types below this are errors."""
ICMPV6_UNTRACKED = frozenset({130, 131, 132, 133, 134, 135, 136, 143})
"""Neighbour and multicast listener discovery (`noct_valid_new`)."""
REDIRECT = 137


def is_special(packet: Packet) -> bool:
    """Tell whether a message is an error or one that conntrack leaves alone, and so opens no
    connection.
    """
    if packet.protocol == protocols.ICMP:
        return packet.icmp_type in ICMP_ERRORS or packet.icmp_type > ICMP_HIGHEST
    if is_redirect(packet):
        return packet.quoted is not None
    return packet.icmp_type < ICMPV6_QUERIES or packet.icmp_type in ICMPV6_UNTRACKED


def is_redirect(packet: Packet) -> bool:
    """Tell whether IPv6 tells of a shorter way. Conntrack looks at the packet that it quotes where
    no option stands before that (`nf_conntrack_icmpv6_redirect`): then `quoted` is set.
    """
    return packet.protocol == protocols.ICMPV6 and packet.icmp_type == REDIRECT


def is_untracked(packet: Packet) -> bool:
    """Tell whether conntrack leaves a message alone."""
    return packet.protocol == protocols.ICMPV6 and packet.icmp_type in ICMPV6_UNTRACKED


def is_opener(packet: Packet) -> bool:
    """Tell whether a message may be the first of a connection."""
    return packet.icmp_type in (
        ICMP_OPENERS if packet.protocol == protocols.ICMP else ICMPV6_OPENERS
    )


def find_quoted(
    table: ConntrackTable, packet: Packet, zone: Zone
) -> tuple[Connection, bool] | InvalidReason:
    """Find the connection that an error is about, with the error's direction in it
    (`nf_conntrack_inet_error`).

    Where there is none, say why the error is invalid.
    """
    quoted = packet.quoted
    if quoted is None:
        return tracking.QuoteUnknown()
    inner = packet_tuple(quoted)
    kind = inverse_kind(inner.protocol, packet_kind(quoted))
    if kind is None:
        return tracking.QuotesIcmp()
    found = table.find(tuple_key(inverse(inner), kind, zone.in_direction(reply=False)), zone)
    if found is None:
        return tracking.QuotesNoConnection(quoted)
    connection, reply = found
    expected = connection.reply.dst if reply else connection.original.dst
    if packet.dst != expected:
        return tracking.ErrorAstray(packet.dst, expected)
    return found
