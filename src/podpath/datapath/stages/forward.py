"""Forwarding: TTL, MTU, then FORWARD, in this order (`net/ipv4/ip_forward.c:ip_forward v6.12`)."""

from __future__ import annotations

from podpath.datapath import icmp
from podpath.datapath.bridging.solicitation import send_redirect
from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.reasons import routes
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
from podpath.node.links import Link

FUNCTION = "net/ipv4/ip_forward.c:ip_forward v6.12"
FUNCTION6 = "net/ipv6/ip6_output.c:ip6_forward v6.12"


def check_forward(walk: Walk, skb: Skb) -> Next:
    """Refuse what must not be forwarded, tell the sender, and count the hop."""
    packet, destination = skb.packet, skb.destination
    if skb.pkt_type != PacketType.HOST:
        walk.trace.step(
            StageName.FORWARD,
            skb,
            FUNCTION,
            packet,
            StepDecision.DROP,
            routes.NotForOneHost(skb.pkt_type),
        )
        return Dropped(
            netns=skb.netns.name,
            reason=drop_reason(DropCause.NOT_FOR_ONE_HOST, walk.engine.node.kernel),
        )
    if skb.given is not None:
        given = routes.GivenToSocket()
        function = FUNCTION if packet.family == 4 else FUNCTION6
        walk.trace.step(StageName.FORWARD, skb, function, packet, StepDecision.DROP, given)
        reason = drop_reason(DropCause.GIVEN_TO_SOCKET, walk.engine.node.kernel)
        return Dropped(netns=skb.netns.name, reason=reason)
    if packet.ttl <= 1:
        walk.trace.step(
            StageName.FORWARD,
            skb,
            FUNCTION,
            packet,
            StepDecision.REJECT,
            routes.TtlExceeded(packet.ttl),
        )
        return icmp.reject(walk, skb, DropCause.TTL, "icmp-ttl-exceeded")
    if packet.family == 6:
        ended = _check_source(walk, skb)
        if ended is not None:
            return ended
    mtu = destination.mtu if destination is not None else 1500
    if skb.frame_length > mtu and (packet.dont_fragment or packet.family == 6):
        spans = destination.spans if destination is not None else ()
        walk.trace.step(
            StageName.FORWARD,
            skb,
            FUNCTION,
            packet,
            StepDecision.REJECT,
            routes.MtuExceeded(packet.length, mtu),
            spans=spans,
            rests_on=destination.mtu_inferred if destination is not None else None,
        )
        return icmp.reject(walk, skb, DropCause.TOO_BIG, "icmp-frag-needed")
    skb.packet = with_ttl(packet, packet.ttl - 1)
    if packet.family == 4 and skb.oif is not None and skb.oif is skb.iif:
        _note_redirect(walk, skb)
    return None


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
    destination = skb.destination
    target = destination.gateway if destination is not None else None
    nexthop = target or skb.packet.dst
    if send_redirect(walk, skb, link, nexthop):
        walk.trace.step(
            StageName.FORWARD, skb, FUNCTION6, skb.packet, StepDecision.REDIRECT,
            routes.RedirectSent(link.name, nexthop), link=link.name,
        )  # fmt: skip


def _note_redirect(walk: Walk, skb: Skb) -> None:
    """Say that the sender is told of a shorter way (`ip_rt_send_redirect`), where it shares the
    next hop's subnet.
    """
    namespace, link = walk.engine.namespace(skb.netns.name), skb.oif
    if link is None or not settings.assumed_maximum(namespace, settings.SEND_REDIRECTS, link.name):
        return
    nexthop = (
        skb.destination.gateway
        if skb.destination is not None and skb.destination.gateway
        else skb.packet.dst
    )
    if any(
        item.prefix.covers(skb.packet.src) and item.prefix.covers(nexthop)
        for item in namespace.by_link.get(link.name, ())
    ):
        walk.trace.step(
            StageName.FORWARD,
            skb,
            FUNCTION,
            skb.packet,
            StepDecision.REDIRECT,
            routes.RedirectSent(link.name, nexthop),
            link=link.name,
        )


def forward_hook(walk: Walk, skb: Skb) -> Next:
    """Run FORWARD."""
    ended = pass_hook(walk, skb, Hook.FORWARD)
    return paths.TRANSMIT if isinstance(ended, Accept) else ended
