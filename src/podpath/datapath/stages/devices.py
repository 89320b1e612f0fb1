"""What each kind of device does with a frame that it is given to transmit (`ndo_start_xmit`)."""

from __future__ import annotations

from collections.abc import Callable

from podpath.datapath.bridging import bridge
from podpath.datapath.devices import macvlan, openvswitch, tunnel, veth, wire, wireguard
from podpath.datapath.nftables import netdev
from podpath.datapath.openflow import switch
from podpath.datapath.reasons import devices as reasons
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.frames import with_macs
from podpath.datapath.tracing.paths import RECEIVE, Next
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import BoundaryName, DropCause, PacketType, StageName, StepDecision
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.offload import compute_checksums
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Mac
from podpath.node.links import Link

FUNCTION = wire.FUNCTION
_NO_MAC = Mac("00:00:00:00:00:00")
LOOPBACK = "drivers/net/loopback.c:loopback_xmit v6.12"


def emit(walk: Walk, skb: Skb) -> Next:
    """Transmit a frame on `skb.link`: it comes in somewhere else in the node, or leaves it."""
    link = skb.link
    if link is None:
        return Dropped(
            netns=skb.netns.name,
            reason=drop_reason(DropCause.OUTPUT_NO_ROUTE, walk.engine.node.kernel),
        )
    turned = netdev.egress(walk, skb, link)
    if turned is not None:
        return turned
    if not link.up:
        return _refuse(walk, skb, link, reasons.LinkDown(link.name), DropCause.DEVICE_DOWN)
    if skb.inner is not None and link.kind != "veth":
        # Of what is inside a tunnel only a veth leaves checksums alone (`dev->hw_enc_features`).
        compute_checksums(skb)
    if link.name == "lo":
        return loop(walk, skb, link)
    if not link.carrier:
        return _refuse(walk, skb, link, reasons.NoCarrier(link.name), DropCause.NO_CARRIER)
    if link.peer is not None:
        return veth.emit(walk, skb, link)
    if openvswitch.bridge_of(walk.engine.node, link) is not None:
        emitted = switch.emit if switch.decides(walk, link) else openvswitch.emit
        return emitted(walk, skb, link)
    by_kind = _KINDS.get("bridge" if link.bridge is not None else link.kind)
    if by_kind is not None:
        return by_kind(walk, skb, link)
    return wire.send(walk, skb, link)


def _refuse(
    walk: Walk,
    skb: Skb,
    link: Link,
    reason: reasons.LinkDown | reasons.NoCarrier,
    cause: DropCause,
) -> Dropped:
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.DROP,
        reason,
        spans=(link.span,) if link.span is not None else (),
        link=link.name,
    )
    return Dropped(netns=skb.netns.name, reason=drop_reason(cause, walk.engine.node.kernel))


def loop(walk: Walk, skb: Skb, link: Link) -> Next:
    """Loop the packet back to this host; it keeps its route and its connection."""
    skb.packet = with_macs(skb.packet, _NO_MAC, _NO_MAC)
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        LOOPBACK,
        skb.packet,
        StepDecision.LOOP,
        reasons.LoopedBack(link.name),
        link=link.name,
    )
    skb.looped = True
    skb.iif, skb.oif, skb.pkt_type = link, None, PacketType.HOST
    return RECEIVE


def _through_bond(walk: Walk, skb: Skb, link: Link) -> Next:
    namespace = walk.engine.namespace(skb.netns.name)
    slaves = namespace.ports.get(link.name, ())
    active = next((slave for slave in slaves if slave.up and slave.carrier), None)
    if active is not None:
        reason = reasons.SentThroughSlave(link.name, active.name)
        walk.trace.step(
            StageName.DEVICE_TRANSMIT,
            skb,
            FUNCTION,
            skb.packet,
            StepDecision.BOND,
            reason,
            link=active.name,
        )
    return wire.send(walk, skb, link)


def _on_lower(walk: Walk, skb: Skb, link: Link) -> Next:
    """Send by the device below (VLAN, ipvlan): out of the node where that is a device that leads
    out.
    """
    namespace = walk.engine.namespace(skb.netns.name)
    lower = namespace.links.get(link.lower) if link.lower is not None else None
    if lower is not None and (lower.kind in {"bridge", "veth"} or lower.peer is not None):
        return boundary(walk, skb, BoundaryName.INNER_VLAN, link.name, lower.name)
    return wire.send(walk, skb, link)


def _swallow(walk: Walk, skb: Skb, link: Link) -> Next:
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.DROP,
        reasons.SwallowedByDummy(link.name),
    )
    return Dropped(netns=skb.netns.name, reason="NOT_SPECIFIED")


def _unknown_tunnel(walk: Walk, skb: Skb, link: Link) -> Next:
    return boundary(walk, skb, BoundaryName.TUNNEL, link.name, link.kind)


def _vrf(walk: Walk, skb: Skb, link: Link) -> Next:
    return boundary(walk, skb, BoundaryName.VRF, link.name)


UNFOLLOWED = (
    "gretap", "erspan", "sit", "ip6tnl", "ip6gre", "ip6gretap", "ip6erspan", "vti", "vti6", "xfrm",
    "bareudp", "gtp", "amt", "macsec",
)  # fmt: skip
"""Kinds of tunnels that end a walk: what they make of a packet is not modeled."""
_KINDS: dict[str, Callable[[Walk, Skb, Link], Next]] = {
    "bridge": bridge.emit,
    "vxlan": tunnel.emit_vxlan,
    "ipip": tunnel.emit_ipip,
    "bond": _through_bond,
    "team": _through_bond,
    "vlan": _on_lower,
    "macvlan": macvlan.emit,
    "ipvlan": _on_lower,
    "dummy": _swallow,
    "ifb": _swallow,
    "vrf": _vrf,
    "geneve": tunnel.emit_geneve,
    "wireguard": wireguard.emit,
    "gre": tunnel.emit_ipip,
    **dict.fromkeys(UNFOLLOWED, _unknown_tunnel),
}
"""What a device of each kind does; one of no listed kind (hardware, tun) sends the frame
out of the node.
"""
