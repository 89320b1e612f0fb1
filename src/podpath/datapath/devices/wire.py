"""The edge of the node: a frame leaves on a device whose other end is not in the model."""

from __future__ import annotations

from podpath.datapath.devices import underlay
from podpath.datapath.devices.tunnel_checksum import refuse_wrong
from podpath.datapath.reasons.devices import LeftByPort, LeftNode
from podpath.datapath.tracing.paths import Next
from podpath.datapath.tracing.trace import Dropped, Transmitted
from podpath.datapath.vocabulary import BoundaryName, StageName, StepDecision
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.offload import compute_checksums
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.provenance import Basis, Inferred
from podpath.node.links import Link

_PRIVATE = frozenset({"ppp", "tun", "wireguard"})
"""Kinds of devices whose other end no listing of devices tells."""
FUNCTION = "net/core/dev.c:dev_hard_start_xmit v6.12"


def send(walk: Walk, skb: Skb, link: Link) -> Next:
    """Send the frame out of the node: to another one of the model, or to where nothing is known."""
    if walk.engine.wires and link.kind in _PRIVATE and skb.inner is None:
        return boundary(walk, skb, BoundaryName.PRIVATE_TUNNEL, link.name, link.kind)
    crossed = underlay.cross(walk, skb, link) if walk.engine.wires else None
    if crossed is None:
        return leave(walk, skb, link)
    return crossed


def leave(walk: Walk, skb: Skb, link: Link) -> Transmitted | Dropped:
    """Send the frame to where nothing is known; whoever gets it takes no wrong checksum."""
    if skb.inner is not None:
        compute_checksums(skb)
        refused = refuse_wrong(walk, skb)
        if refused is not None:
            return refused
    reason: LeftNode | LeftByPort = LeftNode(
        link.name, link.inferred.why if link.inferred is not None else ""
    )
    namespace = walk.engine.namespace(skb.netns.name)
    rests_on = _far_end(skb, skb.tunnel) if skb.tunnel is not None else None
    master = link.bond_slave_of or link.master
    if master is not None and skb.port is None:
        reason = LeftByPort(link.name, namespace.mac(link), master)
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.TRANSMIT,
        reason,
        link=link.name,
        rests_on=rests_on,
    )
    outer = skb.packet if skb.inner is not None else None
    device = skb.tunnel.name if skb.tunnel is not None else None
    inside = skb.inner if skb.inner is not None else skb.packet
    return Transmitted(
        netns=skb.netns.name, link=link.name, packet=inside, outer=outer, tunnel=device
    )


def _far_end(skb: Skb, tunnel: Link) -> Inferred:
    """Say what is taken for granted of the node that unwraps a packet and is not in the model."""
    inside = skb.inner if skb.inner is not None else skb.packet
    why = (
        f"the far end of {tunnel.name} at {skb.packet.dst}, of which there is no evidence, passes "
        f"on what is sent to {inside.dst}"
    )
    ask = f"podpath snapshot -o node.tar.gz, run on the node that has {skb.packet.dst}"
    return Inferred(Basis.GUESSED, why, tunnel.span, ask)
