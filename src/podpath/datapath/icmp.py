"""ICMP errors that the host sends about a packet it ends: which one, from which address."""

from __future__ import annotations

from podpath.datapath.routing import error_source
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.trace import Dropped, Rejected
from podpath.datapath.vocabulary import DropCause
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet

TYPES: dict[str, tuple[int, int]] = {
    "icmp-net-unreachable": (3, 0), "icmp-host-unreachable": (3, 1),
    "icmp-port-unreachable": (3, 3), "icmp-frag-needed": (3, 4), "icmp-pkt-filtered": (3, 13),
    "icmp-ttl-exceeded": (11, 0),
}  # fmt: skip
"""Type and code of each error in IPv4."""

TYPES6: dict[str, tuple[int, int]] = {
    "icmp-net-unreachable": (1, 0), "icmp-host-unreachable": (1, 3),
    "icmp-port-unreachable": (1, 4), "icmp-frag-needed": (2, 0), "icmp-pkt-filtered": (1, 1),
    "icmp-ttl-exceeded": (3, 0),
}  # fmt: skip
"""The same in IPv6."""

_ERRORS = frozenset({3, 4, 5, 11, 12})


def is_error(packet: Packet) -> bool:
    """Tell whether a packet is an ICMP error: about those no error is sent."""
    if packet.protocol == protocols.ICMP:
        return packet.icmp_type in _ERRORS
    return packet.protocol == protocols.ICMPV6 and packet.icmp_type < 128


def reject(walk: Walk, skb: Skb, cause: DropCause, answer: str) -> Dropped | Rejected:
    """End a packet and send its sender an ICMP error, as far as one may be sent
    (`net/ipv4/icmp.c:icmp_send v6.12`).
    """
    packet, name = skb.packet, skb.netns.name
    reason = drop_reason(cause, walk.engine.node.kernel, packet.family)
    if (
        is_error(packet)
        or packet.fragment
        or packet.dst.is_multicast
        or skb.to_many
        or packet.src.is_unspecified
        or packet.src.is_multicast
    ):
        return Dropped(netns=name, reason=reason)
    skb.answer = _error(packet, answer, error_source(walk, skb))
    return Rejected(netns=name, reason=reason, answer=answer)


def drop_outer(walk: Walk, skb: Skb, cause: DropCause) -> Dropped:
    """Drop a tunnel's outer packet. Where no socket has its port, the other end of the tunnel is
    told, and nobody tells the sender of what is inside.
    """
    if cause is DropCause.NO_SOCKET:
        reject(walk, skb, cause, "icmp-port-unreachable")
    kernel = walk.engine.node.home_of(skb.netns).kernel
    return Dropped(netns=skb.netns.name, reason=drop_reason(cause, kernel))


def _error(packet: Packet, answer: str, source: Address) -> Packet:
    """Make the error as it enters OUTPUT: an unspecified source is chosen with its route."""
    six = packet.family == 6
    kind, code = (TYPES6 if six else TYPES)[answer]
    protocol = protocols.ICMPV6 if six else protocols.ICMP
    tos = 0 if six else packet.tos & 0x1E | 0xC0  # (icmpv6_send takes its socket's)
    return Packet(
        source,
        packet.src,
        protocol,
        icmp_type=kind,
        icmp_code=code,
        tos=tos,
        length=error_length(packet),
        dont_fragment=False,
        quoted=packet,
    )


def error_length(about: Packet) -> int:
    """Return the bytes of an ICMP error: it quotes as much of the packet as fits (`icmp_send`, RFC
    4443 section 2.4).
    """
    if about.family == 4:
        return min(28 + about.length, 576)
    return min(48 + about.length, 1280)
