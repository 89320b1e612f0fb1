"""Local delivery: INPUT, then the socket (or the tunnel device that listens like one)."""

from __future__ import annotations

from podpath.datapath.cilium import programs as cilium
from podpath.datapath.devices import tunnel, wireguard
from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.reasons.devices import ReachedSocket
from podpath.datapath.stages.unanswered import leave_unanswered
from podpath.datapath.tracing.paths import Next
from podpath.datapath.tracing.trace import Delivered
from podpath.datapath.vocabulary import BoundaryName, Hook, StageName, StepDecision
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.pieces import put_together
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols

FUNCTION = "net/ipv4/ip_input.c:ip_local_deliver_finish v6.12"


IPVS_DEVICE = "kube-ipvs0"
"""The dummy device on which kube-proxy keeps the addresses of its IPVS services."""


def input_hook(walk: Walk, skb: Skb) -> Next:
    """Run INPUT, unless IPVS takes the packet there for one of its services."""
    skb.oif = None
    put_together(skb)
    if IPVS_DEVICE in walk.engine.namespace(skb.netns.name).by_link and _is_scheduled(walk, skb):
        return boundary(walk, skb, BoundaryName.IPVS, skb.packet.dst, IPVS_DEVICE)
    ended = pass_hook(walk, skb, Hook.INPUT)
    return None if isinstance(ended, Accept) else ended


def _is_scheduled(walk: Walk, skb: Skb) -> bool:
    owner = walk.engine.namespace(skb.netns.name).addresses.get(skb.packet.dst)
    return owner is not None and owner.link == IPVS_DEVICE


def deliver(walk: Walk, skb: Skb) -> Next:
    """Hand the packet to its transport protocol: a tunnel takes its own, everything else has
    reached a socket's door.
    """
    if skb.inner is not None:
        sender = skb.tunnel
        if sender is not None and sender.kind == "wireguard":
            unwrapped = wireguard.receive(walk, skb, sender)
        else:
            unwrapped = tunnel.receive(walk, skb)
        if unwrapped is not None:
            return unwrapped
    if walk.engine.cilium is not None:
        cilium.restore_peer(walk, skb)
    ended = leave_unanswered(walk, skb)
    if ended is not None:
        return ended
    packet = skb.packet
    port = packet.dport if packet.protocol in {protocols.TCP, protocols.UDP} else None
    walk.trace.step(
        StageName.SOCKET,
        skb,
        FUNCTION,
        packet,
        StepDecision.DELIVER,
        ReachedSocket(port, skb.netns.name),
    )
    return Delivered(netns=skb.netns.name, packet=packet, given=skb.given)
