"""The packet under way: `struct sk_buff`, as far as the stages look at it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from podpath.datapath.conntrack.connection import TEMPLATE_ENTRY, Connection, Template
from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.vocabulary import CtInfo, GivenSocket, PacketType
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.node.links import Link
from podpath.node.node import Netns

TO_MANY = ("broadcast", "multicast")
"""Types of routes to more than one host."""


@dataclass(slots=True)
class Skb:
    """One packet on its way. Mutable: the stages of one walk hand it on."""

    packet: Packet
    netns: Netns
    link: Link | None = None
    """`skb->dev`: where it came in, later where it goes out."""
    iif: Link | None = None
    """The input device as netfilter and policy rules see it; None for local output."""
    oif: Link | None = None
    """The output device as netfilter sees it; None before routing."""
    mark: int = 0
    connection: Connection | None = None
    ctinfo: CtInfo = CtInfo.NOT_SEEN
    reply: bool = False
    """`CTINFO2DIR`: the packet goes in the connection's reply direction."""
    template: Template | None = None
    """What a CT target wants conntrack to do with the packet (a zone); None without one."""
    destination: Destination | None = None
    physin: Link | None = None
    """`nf_bridge->physindev`: the bridge port it came in on; None where br_netfilter did not see
    it.
    """
    physout: Link | None = None
    bridged: bool = False
    """True while br_netfilter runs the IP hooks for a frame that the bridge forwards."""
    prerouted: bool = False
    """True after br_netfilter ran PREROUTING for it: `ip_sabotage_in` skips the second time."""
    routed_early: bool = False
    """True for what br_netfilter has routed already: IPv6 then takes the device that it leaves by
    for the one it came in on (`net/ipv6/ip6_input.c:ip6_rcv_core v6.12`, `IP6CB(skb)->iif`).
    """
    pkt_type: PacketType = PacketType.HOST
    uid: int | None = None
    """The sending socket's owner; None for a forwarded packet."""
    by_kernel: bool = False
    """True for what the kernel sends by itself (an error, a reset, an echo reply): no process owns
    it.
    """
    bound: str | None = None
    """The device that the sending socket is bound to (`sk_bound_dev_if`); None for none."""
    transparent: bool = False
    """True for what a transparent socket sends: its source may be another host's."""
    own_ttl: bool = False
    """True for a TTL that the sending socket has set."""
    may_be_gso: bool = False
    """True for one of many full segments, which the kernel may carry as one (`skb_is_gso`)."""
    ignore_df: bool = False
    """True for what a socket sends that leaves it to the kernel to fragment: its DF is off where it
    does not fit the device (`ip_sk_ignore_df`).
    """
    hashed: Hashable | None = None
    """What its hash is of, where it has one that lasts: the connected socket that sent it
    (`skb_set_hash_from_sk`), or headers with ports that were hashed once.
    """
    looped: bool = False
    """True for what the host sends to itself over `lo`: it keeps its route and connection."""
    given: GivenSocket | None = None
    """The socket that a rule gave it to (`skb->sk`), until IP receives it again."""
    port: Link | None = None
    """The bridge port that the frame leaves by, while a bridge has it."""
    vlan: int | None = None
    """The VLAN that a filtering bridge put the frame into."""
    inner: Packet | None = None
    """The packet inside a tunnel's outer one."""
    tunnel: Link | None = None
    """The tunnel device that wrapped `inner`."""
    partial: bool = False
    """True while its checksum, of a tunnel's packet the innermost one, is left to the device that
    sends it last (`CHECKSUM_PARTIAL`).
    """
    outer_error: int = 0
    """By how much NAT has left a tunnel's outer checksum wrong meanwhile, modulo 65535."""
    wrapped: tuple[tuple[Packet, Link], ...] = ()
    """What is inside `inner`, where tunnels are nested: packets and the devices that wrapped them,
    the innermost first.
    """
    pieces: tuple[int, ...] = ()
    """Bytes of each of its fragments, where it goes in such; empty for a whole packet."""
    longest: int = 0
    """Bytes of its longest fragment, where it came in such and was put together
    (`IPCB(skb)->frag_max_size`).
    """
    inner_pieces: tuple[int, ...] = ()
    """The fragments of `inner`, each in an outer packet of its own."""
    failed_at: Hashable | None = None
    """The neighbor that did not answer for it, or of an error, for the packet it is about: what
    waits for one that has just failed is thrown away with it (`neigh_invalidate`).
    """
    answer: Packet | None = None
    """The error that the packet's sender is sent, where it was rejected."""

    @property
    def frame_length(self) -> int:
        """Return the bytes of the longest IP packet that it goes in."""
        if self.pieces:
            return max(self.pieces)
        return self.packet.length

    @property
    def to_many(self) -> bool:
        """Whether it is for more than one host, by its frame or its route
        (`net/ipv4/icmp.c:__icmp_send v6.12`, `RTCF_BROADCAST`).
        """
        routed = self.destination is not None and self.destination.type in TO_MANY
        return routed or self.pkt_type in {PacketType.BROADCAST, PacketType.MULTICAST}

    @property
    def innermost(self) -> Packet:
        """What is inside all tunnels; the packet itself where there are none."""
        if self.wrapped:
            return self.wrapped[0][0]
        return self.inner or self.packet


def forget_connection(skb: Skb) -> None:
    """Take away what conntrack and routing hung on a packet (`skb_scrub_packet`)."""
    skb.connection = skb.template = skb.destination = None
    skb.ctinfo, skb.reply = CtInfo.NOT_SEEN, False


def input_flow(skb: Skb, link: Link) -> FlowKey:
    """Return what input routing goes by."""
    packet = skb.packet
    has_ports = not skb.pieces  # not even of the first fragment (`fib4_rules_early_flow_dissect`)
    return FlowKey(
        packet.dst,
        packet.src,
        link.name,
        mark=skb.mark,
        tos=packet.tos,
        protocol=packet.protocol,
        sport=packet.sport if has_ports else 0,
        dport=packet.dport if has_ports else 0,
    )


def output_flow(skb: Skb, source: Address | None) -> FlowKey:
    """Return what output routing goes by; no source where the sender left it open."""
    packet = skb.packet
    return FlowKey(
        packet.dst,
        source,
        oif=skb.bound,
        mark=skb.mark,
        tos=packet.tos,
        protocol=packet.protocol,
        sport=packet.sport,
        dport=packet.dport,
        uid=skb.uid or 0,
    )


def attached(skb: Skb) -> Connection | None:
    """Return the entry that hangs on a packet (`nf_ct_get`): its connection, or before conntrack
    what a CT target hung on it.
    """
    if skb.connection is None and skb.template is not None:
        return TEMPLATE_ENTRY
    return skb.connection


def is_untouched(skb: Skb) -> bool:
    """Tell whether a rule may still say what conntrack shall do with a packet: nothing hangs on it,
    not even another rule's word.

    What conntrack called invalid has nothing either: over lo it comes to the rules before conntrack
    once more.
    """
    return attached(skb) is None and skb.ctinfo in {CtInfo.NOT_SEEN, CtInfo.INVALID}
