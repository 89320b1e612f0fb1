"""Checksums that are left to the device (`CHECKSUM_PARTIAL`), and what NAT makes meanwhile of a
tunnel's outer one.

Of what a socket sends, the last device computes the checksum. A vxlan device that wraps such a
packet computes the outer checksum at once, in full (`lco_csum`). NAT, however, takes any checksum
of such a packet for one that is still to be completed: it adds an address where it should subtract
it, and leaves out ports. The outer packet is then lost wherever its checksum is looked at: by every
UDP socket and by conntrack, unless it came over nothing but veths, which compute none either.
"""

from __future__ import annotations

from podpath.datapath.walk.skb import Skb
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet

FUNCTION = "net/netfilter/nf_nat_proto.c:__udp_manip_pkt v6.12"
_MODULUS = 0xFFFF
"""Checksums of the Internet are sums in ones' complement (RFC 1071)."""


def note_rewriting(skb: Skb, before: Packet) -> None:
    """Add up by how much NAT leaves the outer checksum wrong."""
    vxlan = skb.tunnel.vxlan if skb.tunnel is not None else None
    if not skb.partial or skb.inner is None or vxlan is None or vxlan.checksum is False:
        return
    after = skb.packet
    addresses = sum(map(_sum_words, (after.src, after.dst)))
    addresses -= sum(map(_sum_words, (before.src, before.dst)))
    ports = after.sport + after.dport - before.sport - before.dport
    skb.outer_error = (skb.outer_error + 2 * addresses + ports) % _MODULUS


def compute_checksums(skb: Skb) -> None:
    """Let the checksums be computed that were left to the device (`skb_checksum_help`): of what is
    inside a tunnel the innermost one, while the outer one stays as it is.
    """
    if skb.partial and skb.outer_error:
        skb.packet = skb.packet._replace(bad_checksum=True)
    skb.partial, skb.outer_error = False, 0


def is_left_to_device(packet: Packet) -> bool:
    """Tell whether a socket leaves the checksum of what it sends to the device."""
    return packet.protocol in {protocols.TCP, protocols.UDP}


def _sum_words(address: Address) -> int:
    value, total = address.value, 0
    while value:
        total += value & _MODULUS
        value >>= 16
    return total
