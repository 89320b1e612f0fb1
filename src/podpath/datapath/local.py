"""Local delivery: INPUT, then the socket (or the tunnel device that listens like one)."""

from __future__ import annotations

from podpath.datapath import cilium, tunnel
from podpath.datapath.hook import pass_hook
from podpath.datapath.netfilter import hooks
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.paths import Next
from podpath.datapath.skb import Skb, Walk
from podpath.datapath.trace import Delivered
from podpath.net import protocols

FUNCTION = "net/ipv4/ip_input.c:ip_local_deliver_finish v6.12"


def input_hook(walk: Walk, skb: Skb) -> Next:
    """Run INPUT."""
    skb.oif = None
    ended = pass_hook(walk, skb, hooks.INPUT)
    return None if isinstance(ended, Accept) else ended


def deliver(walk: Walk, skb: Skb) -> Next:
    """Hand the packet to its transport protocol: a tunnel takes its own, everything else has reached a socket's door."""
    if skb.inner is not None:
        unwrapped = tunnel.receive(walk, skb)
        if unwrapped is not None:
            return unwrapped
    if walk.engine.cilium is not None:
        cilium.restore_peer(walk, skb)
    packet = skb.packet
    what = "the protocol" if packet.protocol not in {protocols.TCP, protocols.UDP} else f"port {packet.dport}"
    walk.step("socket", skb, FUNCTION, packet, "deliver", "it reaches {0} of {1}", what, skb.netns.name)
    return Delivered(netns=skb.netns.name, packet=packet)
