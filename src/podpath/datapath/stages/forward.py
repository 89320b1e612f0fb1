"""Forwarding: TTL, MTU, then FORWARD, in this order (`net/ipv4/ip_forward.c:ip_forward v6.12`)."""

from __future__ import annotations

from podpath.datapath import icmp
from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.reasons import routes
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.frames import with_ttl
from podpath.datapath.tracing.paths import Next
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import (
    DropCause,
    Hook,
    PacketType,
    StageName,
    StepDecision,
)
from podpath.datapath.walk import settings
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk

FUNCTION = "net/ipv4/ip_forward.c:ip_forward v6.12"


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
    if skb.oif is not None and skb.oif is skb.iif:
        _note_redirect(walk, skb)
    return None


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
