"""Packets rewritten to what their connection's tuples say (net/netfilter/nf_nat_core.c,
nf_nat_proto.c v6.12).
"""

from __future__ import annotations

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.conntrack.tuples import ICMPS, PORTED, inverse
from podpath.datapath.tracing.frames import with_destination, with_source
from podpath.net.packet import Packet
from podpath.node.netfilter import ConnTuple


def is_translated(connection: Connection, *, reply: bool, source: bool) -> bool:
    """Tell whether packets of a direction have their source (else their destination) rewritten
    (`nf_nat_packet`).
    """
    if source is not reply:
        return connection.src_nat
    return connection.dst_nat


def rewrite(packet: Packet, connection: Connection, *, reply: bool, source: bool) -> Packet:
    """Return the packet one end of its connection's other tuple (`nf_nat_manip_pkt`)."""
    return _put(packet, inverse(connection.original if reply else connection.reply), source=source)


def rewrite_error(packet: Packet, connection: Connection, *, reply: bool, source: bool) -> Packet:
    """Rewrite an ICMP error and the packet it quotes (`nf_nat_icmp_reply_translation`)."""
    other = connection.original if reply else connection.reply
    quoted = packet.quoted
    if quoted is not None:
        packet = packet._replace(quoted=_put(quoted, other, source=not source))
    target = inverse(other)
    # The outer header has no ports: it takes the address alone.
    if source:
        return packet._replace(src=target.src)
    return packet._replace(dst=target.dst)


def _put(packet: Packet, target: ConnTuple, *, source: bool) -> Packet:
    if packet.protocol in ICMPS:
        port = target.sport if source else target.dport
        if source:
            return packet._replace(src=target.src, sport=port, dport=port)
        return packet._replace(dst=target.dst, sport=port, dport=port)
    if packet.protocol in PORTED:
        if source:
            return with_source(packet, target.src, target.sport)
        return with_destination(packet, target.dst, target.dport)
    if source:
        return packet._replace(src=target.src)
    return packet._replace(dst=target.dst)
