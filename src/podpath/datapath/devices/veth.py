"""A veth pair: what one end sends comes in at the other, in whatever namespace that is."""

from __future__ import annotations

from podpath.datapath.devices import wire
from podpath.datapath.devices.frame_length import refuse_longer
from podpath.datapath.reasons.devices import HandedToPeer
from podpath.datapath.tracing.paths import RECEIVE, Next
from podpath.datapath.vocabulary import StageName, StepDecision
from podpath.datapath.walk.skb import Skb, forget_connection
from podpath.datapath.walk.state import Walk
from podpath.net.provenance import Known
from podpath.node.links import Link, Peer

FUNCTION = "drivers/net/veth.c:veth_xmit v6.12"


def emit(walk: Walk, skb: Skb, link: Link) -> Next:
    """Hand the frame to the peer."""
    peer = peer_of(walk, link)
    if peer is None:
        return wire.send(walk, skb, link)
    crosses = peer.netns != skb.netns.name
    rests_on = link.peer.inferred if isinstance(link.peer, Known) else None
    reason = HandedToPeer(link.name, peer.link, peer.netns, crosses)
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.HOP,
        reason,
        link=link.name,
        rests_on=rests_on,
    )
    enter(walk, skb, peer)
    receiver = walk.engine.namespace(peer.netns).link(peer.link)
    return refuse_longer(walk, skb, receiver, StageName.DEVICE_RECEIVE) or RECEIVE


def peer_of(walk: Walk, link: Link) -> Peer | None:
    """Return the other end of a veth, asking where it is not known; None where it is in no
    namespace of the model.
    """
    if link.peer is None:
        return None
    peer = walk.choices.resolve(link.peer)
    if peer.netns in walk.engine.node.namespaces:
        return peer
    return None


def enter(walk: Walk, skb: Skb, peer: Peer) -> None:
    """Move the packet to the peer: it forgets its route and connection, and in another namespace
    its mark.

    `net/core/skbuff.c:skb_scrub_packet v6.12`, called with whether the namespaces differ.
    """
    if peer.netns != skb.netns.name:
        skb.mark = 0
    skb.netns = walk.engine.node.namespaces[peer.netns]
    skb.link = walk.engine.namespace(peer.netns).link(peer.link)
    forget_connection(skb)
    skb.iif = skb.oif = skb.physin = skb.physout = skb.port = skb.uid = skb.vlan = None
    skb.longest = 0
    skb.prerouted = skb.bridged = skb.looped = skb.by_kernel = False
