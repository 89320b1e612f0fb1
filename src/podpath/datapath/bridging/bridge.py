"""A Linux bridge: which port a frame goes to, and what br_netfilter makes of it on the way.

With `net.bridge.bridge-nf-call-iptables` a bridged IP packet runs PREROUTING, FORWARD and
POSTROUTING at the bridge, conntrack and NAT included; without it iptables never sees the frame
(`net/bridge/br_netfilter_hooks.c v6.12`).
"""

from __future__ import annotations

from podpath.datapath.bridging import bridge_netfilter
from podpath.datapath.devices.bridge_ports import find_port
from podpath.datapath.devices.frame_length import refuse_longer
from podpath.datapath.devices.segment import ingress_vlan, why_held
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons.bridges import (
    Bridged,
    FloodedForNobody,
    Hold,
    NotSentOut,
    NotTakenIn,
    PortState,
    SentOutOfPort,
    TakesNoUntagged,
)
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.frames import is_group
from podpath.datapath.tracing.paths import EMIT, RECEIVE, Next
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import DropCause, StageName, StepDecision
from podpath.datapath.walk.learned import FdbKey
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Mac
from podpath.node.links import BridgePort, Link

INGRESS = "net/bridge/br_input.c:br_handle_frame v6.12"
FORWARDING = "net/bridge/br_input.c:br_handle_frame_finish v6.12"
XMIT = "net/bridge/br_device.c:br_dev_xmit v6.12"
_PLAIN = BridgePort()


def ingress(walk: Walk, skb: Skb) -> Next:
    """Take a frame off a port: its state and VLAN decide whether it comes in; the bridge learns its
    source.
    """
    namespace, port = walk.engine.namespace(skb.netns.name), skb.link
    if port is None or port.master is None:
        return RECEIVE
    bridge = namespace.link(port.master)
    attributes = port.port or _PLAIN
    if attributes.state not in {"forwarding", "learning"} or not port.up:
        hold = PortState(port.name, attributes.state if port.up else "disabled")
        return _hold(walk, skb, bridge, hold, DropCause.BRIDGE_PORT_STATE)
    skb.vlan = ingress_vlan(bridge, port)
    if skb.vlan is None and bridge.bridge is not None and bridge.bridge.vlan_filtering:
        return _hold(walk, skb, bridge, TakesNoUntagged(port.name), DropCause.VLAN)
    if attributes.learning and skb.packet.smac is not None:
        seen = FdbKey(namespace.name, bridge.name, skb.packet.smac)
        walk.learned.fdb[seen] = port
    skb.physin = port
    skb.link = bridge
    return None


def _hold(walk: Walk, skb: Skb, bridge: Link, hold: Hold, cause: DropCause) -> Dropped:
    walk.trace.step(
        StageName.BRIDGE,
        skb,
        INGRESS,
        skb.packet,
        StepDecision.DROP,
        NotTakenIn(bridge.name, hold),
        link=bridge.name,
    )
    return Dropped(netns=skb.netns.name, reason=drop_reason(cause, walk.engine.node.kernel))


def prerouting(walk: Walk, skb: Skb) -> Next:
    """Run PREROUTING for the bridged packet, where br_netfilter is on."""
    return bridge_netfilter.prerouting(walk, skb)


def decide(walk: Walk, skb: Skb) -> Next:
    """Choose by the destination MAC: up to the host, or out of a port."""
    namespace, bridge, source = walk.engine.namespace(skb.netns.name), skb.link, skb.physin
    dmac = skb.packet.dmac
    if bridge is None or dmac is None or is_group(dmac):
        return _pass_up(skb)
    port = find_port(walk, namespace, bridge, dmac, source)
    if port is bridge:
        return _pass_up(skb)
    if port is None:
        return _nobody(walk, skb, bridge)
    hold = why_held(bridge, source, port, skb.vlan)
    if hold is not None:
        held = NotSentOut(bridge.name, port.name, hold)
        walk.trace.step(
            StageName.BRIDGE, skb, FORWARDING, skb.packet, StepDecision.DROP, held, link=bridge.name
        )
        learned = source is port or _is_learned(walk, namespace, bridge, dmac)
        cause = DropCause.BRIDGE_HELD if learned else DropCause.BRIDGE_FLOODED
        return Dropped(netns=skb.netns.name, reason=drop_reason(cause, walk.engine.node.kernel))
    skb.port = port
    reason = Bridged(bridge.name, source.name if source is not None else None, port.name)
    walk.trace.step(
        StageName.BRIDGE, skb, FORWARDING, skb.packet, StepDecision.BRIDGE, reason, link=port.name
    )
    return None


def _is_learned(walk: Walk, namespace: Namespace, bridge: Link, mac: Mac) -> bool:
    """Tell whether the bridge knows which port has a MAC; a frame for no known one goes out of
    every port (`net/bridge/br_input.c:br_handle_frame_finish v6.18`).
    """
    if not namespace.netns.fdb.complete or (bridge.name, mac) in namespace.fdb:
        return True
    return FdbKey(namespace.name, bridge.name, mac) in walk.learned.fdb


def _pass_up(skb: Skb) -> Next:
    """Hand the frame to the host, as if the bridge device had received it (`br_pass_frame_up`)."""
    if not skb.prerouted:
        skb.physin = None
    skb.bridged = False
    return RECEIVE


def _nobody(walk: Walk, skb: Skb, bridge: Link) -> Dropped:
    reason = FloodedForNobody(bridge.name, skb.packet.dmac)
    walk.trace.step(
        StageName.BRIDGE, skb, FORWARDING, skb.packet, StepDecision.DROP, reason, link=bridge.name
    )
    return Dropped(
        netns=skb.netns.name, reason=drop_reason(DropCause.OTHER_HOST, walk.engine.node.kernel)
    )


def forward(walk: Walk, skb: Skb) -> Next:
    """Run FORWARD for the bridged packet, where br_netfilter is on."""
    return bridge_netfilter.forward(walk, skb)


def postrouting(walk: Walk, skb: Skb) -> Next:
    """Run POSTROUTING for the bridged packet, where br_netfilter is on, and send it out of its
    port.
    """
    ended = bridge_netfilter.postrouting(walk, skb)
    if ended is not None:
        return ended
    skb.bridged = skb.prerouted = False
    skb.link = port = skb.port
    if port is None or skb.frame_length <= port.mtu:
        return EMIT
    filtered = bridge_netfilter.sees(walk, skb, port)
    return refuse_longer(walk, skb, port, StageName.DEVICE_TRANSMIT, filtered=filtered) or EMIT


def emit(walk: Walk, skb: Skb, link: Link) -> Next:
    """Send a frame of the host through its bridge device: no IP hook runs again, and no hairpin
    check applies.
    """
    namespace = walk.engine.namespace(skb.netns.name)
    dmac = skb.packet.dmac
    if dmac is not None and not is_group(dmac):
        port = find_port(walk, namespace, link, dmac, None)
    else:
        port = _any_port(namespace, link)
    if port is link:
        skb.iif = None
        return RECEIVE
    if port is None:
        return _nobody(walk, skb, link)
    hold = why_held(link, None, port, None)
    if hold is not None:
        walk.trace.step(
            StageName.BRIDGE,
            skb,
            XMIT,
            skb.packet,
            StepDecision.DROP,
            NotSentOut(link.name, port.name, hold),
            link=link.name,
        )
        return Dropped(
            netns=skb.netns.name, reason=drop_reason(DropCause.BRIDGE_HELD, walk.engine.node.kernel)
        )
    reason = SentOutOfPort(link.name, port.name)
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        XMIT,
        skb.packet,
        StepDecision.BRIDGE,
        reason,
        link=link.name,
    )
    skb.port = skb.link = port
    return EMIT


def _any_port(namespace: Namespace, link: Link) -> Link | None:
    """Return one of the ports that a flooded frame leaves by."""
    return next(
        (
            port
            for port in namespace.ports.get(link.name, ())
            if why_held(link, None, port, None) is None
        ),
        None,
    )
