"""Forwarding: TTL, MTU, then FORWARD, in this order (`net/ipv4/ip_forward.c:ip_forward v6.12`)."""

from __future__ import annotations

from podpath.datapath import icmp
from podpath.datapath.bridging.solicitation import send_redirect
from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.reasons import Reason, routes
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.frames import with_ttl
from podpath.datapath.tracing.paths import Next
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import (
    BoundaryName,
    DropCause,
    Hook,
    PacketType,
    StageName,
    StepDecision,
)
from podpath.datapath.walk import settings
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Address
from podpath.node.links import Link

FUNCTION = "net/ipv4/ip_forward.c:ip_forward v6.12"
FUNCTION6 = "net/ipv6/ip6_output.c:ip6_forward v6.12"


def check_forward(walk: Walk, skb: Skb) -> Next:
    """Refuse what must not be forwarded, tell the sender, and count the hop."""
    packet = skb.packet
    if skb.pkt_type != PacketType.HOST:
        return _drop(walk, skb, routes.NotForOneHost(skb.pkt_type), DropCause.NOT_FOR_ONE_HOST)
    if skb.given is not None:
        function = FUNCTION if packet.family == 4 else FUNCTION6
        return _drop(walk, skb, routes.GivenToSocket(), DropCause.GIVEN_TO_SOCKET, function)
    if packet.ttl <= 1:
        return _refuse_spent(walk, skb)
    if packet.family == 6:
        ended = _check_source(walk, skb)
        if ended is not None:
            return ended
    mtu = skb.destination.mtu if skb.destination is not None else 1500
    if skb.frame_length > mtu and (packet.dont_fragment or packet.family == 6):
        return _refuse_large(walk, skb, mtu)
    skb.packet = with_ttl(packet, packet.ttl - 1)
    if packet.family == 4 and skb.oif is not None and skb.oif is skb.iif:
        _note_redirect(walk, skb)
    return None


def _drop(
    walk: Walk, skb: Skb, reason: Reason, cause: DropCause, function: str = FUNCTION
) -> Dropped:
    """End a packet silently."""
    walk.trace.step(StageName.FORWARD, skb, function, skb.packet, StepDecision.DROP, reason)
    return Dropped(netns=skb.netns.name, reason=drop_reason(cause, walk.engine.node.kernel))


def _refuse_spent(walk: Walk, skb: Skb) -> Next:
    """End a packet whose hops are used up, and tell its sender."""
    reason = routes.TtlExceeded(skb.packet.ttl)
    walk.trace.step(StageName.FORWARD, skb, FUNCTION, skb.packet, StepDecision.REJECT, reason)
    return icmp.reject(walk, skb, DropCause.TTL, "icmp-ttl-exceeded")


def _refuse_large(walk: Walk, skb: Skb, mtu: int) -> Next:
    """End a packet that its route cannot carry whole, and tell its sender."""
    destination = skb.destination
    walk.trace.step(
        StageName.FORWARD,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.REJECT,
        routes.MtuExceeded(skb.packet.length, mtu),
        spans=destination.spans if destination is not None else (),
        rests_on=destination.mtu_inferred if destination is not None else None,
    )
    return icmp.reject(walk, skb, DropCause.TOO_BIG, "icmp-frag-needed")


def _check_source(walk: Walk, skb: Skb) -> Next:
    """Tell the sender of a shorter way where a packet goes back, else refuse a source that is not
    for other links.
    """
    source, link = skb.packet.src, skb.iif
    if link is not None and (skb.oif is link or skb.routed_early):
        _redirect(walk, skb, link)
        return None
    if source.is_link_local:
        return boundary(walk, skb, BoundaryName.LINK_LOCAL, source)
    if not source.is_unspecified:
        return None
    reason = routes.MartianSource(source)
    walk.trace.step(StageName.FORWARD, skb, FUNCTION6, skb.packet, StepDecision.DROP, reason)
    kernel = walk.engine.node.kernel
    return Dropped(netns=skb.netns.name, reason=drop_reason(DropCause.INVALID_SOURCE, kernel, 6))


def _redirect(walk: Walk, skb: Skb, link: Link) -> None:
    nexthop = _next_hop(skb)
    if send_redirect(walk, skb, link, nexthop):
        _say_redirect(walk, skb, FUNCTION6, link, nexthop)


def _note_redirect(walk: Walk, skb: Skb) -> None:
    """Say that the sender is told of a shorter way (`ip_rt_send_redirect`), where it shares the
    next hop's subnet.
    """
    namespace, link = walk.engine.namespace(skb.netns.name), skb.oif
    if link is None or not settings.assumed_maximum(namespace, settings.SEND_REDIRECTS, link.name):
        return
    nexthop = _next_hop(skb)
    if any(
        item.prefix.covers(skb.packet.src) and item.prefix.covers(nexthop)
        for item in namespace.by_link.get(link.name, ())
    ):
        _say_redirect(walk, skb, FUNCTION, link, nexthop)


def _next_hop(skb: Skb) -> Address:
    """Return the gateway that a packet goes to, or who it is for."""
    gateway = skb.destination.gateway if skb.destination is not None else None
    return gateway or skb.packet.dst


def _say_redirect(walk: Walk, skb: Skb, function: str, link: Link, nexthop: Address) -> None:
    reason = routes.RedirectSent(link.name, nexthop)
    decision = StepDecision.REDIRECT
    walk.trace.step(StageName.FORWARD, skb, function, skb.packet, decision, reason, link=link.name)


def forward_hook(walk: Walk, skb: Skb) -> Next:
    """Run FORWARD."""
    ended = pass_hook(walk, skb, Hook.FORWARD)
    if isinstance(ended, Accept):
        return paths.TRANSMIT
    return ended
