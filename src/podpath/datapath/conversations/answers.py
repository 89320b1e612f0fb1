"""What a host answers to a packet that none of its sockets takes: a TCP reset, an ICMP port
unreachable, or nothing.
"""

from __future__ import annotations

from podpath.datapath.icmp import TYPES, TYPES6, error_length, is_error
from podpath.net import protocols
from podpath.net.packet import Packet

HEADERS = {4: 40, 6: 60}
"""Bytes of a reset: IP and TCP headers without options."""


def refuse(packet: Packet) -> Packet | None:
    """Return the answer to a packet for a port or connection that the host does not have; None
    where it sends none.

    TCP answers with a reset, except to one (`net/ipv4/tcp_ipv4.c:tcp_v4_send_reset v6.12`), UDP
    with port unreachable.
    """
    if packet.bad_checksum:
        return None
    if packet.protocol == protocols.TCP:
        if packet.flags & protocols.RST:
            return None
        return _reset(packet)
    if packet.protocol != protocols.UDP or is_error(packet):
        return None
    if packet.src.is_unspecified or packet.src.is_multicast:
        return None  # no error is sent to nobody in particular (icmp6_send)
    six = packet.family == 6
    kind, code = (TYPES6 if six else TYPES)["icmp-port-unreachable"]
    protocol = protocols.ICMPV6 if six else protocols.ICMP
    return Packet(
        packet.dst,
        packet.src,
        protocol,
        icmp_type=kind,
        icmp_code=code,
        tos=0 if six else packet.tos & 0x1E | 0xC0,
        length=error_length(packet),
        dont_fragment=False,
        quoted=packet,
    )


def _reset(packet: Packet) -> Packet:
    acknowledged = bool(packet.flags & protocols.ACK)
    flags = protocols.RST if acknowledged else protocols.RST | protocols.ACK
    seq = packet.ack if acknowledged else 0
    ack = 0 if acknowledged else packet.seq + packet.payload + bool(packet.flags & protocols.SYN)
    # net/ipv4/tcp_ipv4.c:tcp_v4_send_reset v6.12: with the TOS of what it answers
    return Packet(
        packet.dst,
        packet.src,
        protocols.TCP,
        packet.dport,
        packet.sport,
        flags,
        tos=packet.tos,
        length=HEADERS[packet.family],
        seq=seq,
        ack=ack,
    )
