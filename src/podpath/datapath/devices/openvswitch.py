"""Open vSwitch, as far as the node's devices show it: internal ports, system ports, bonds.

It switches by MAC address here (action NORMAL), as bridges do without flows of a program; flows
that are shown are walked by `datapath.openflow`, which comes here for NORMAL.
A system port that the host routes packets to directly still sends them, with its own MAC; what
comes in on it goes to the switch before IP sees it
(`net/openvswitch/vport-netdev.c:netdev_port_receive v6.12`).
"""

from __future__ import annotations

from podpath.datapath.devices import wire
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons.bridges import HandedToSwitch, Switched, SwitchFloods
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.frames import is_symbolic
from podpath.datapath.tracing.paths import EMIT, RECEIVE, Next
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import BoundaryName, DropCause, StageName, StepDecision
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Mac
from podpath.net.provenance import Known
from podpath.node.links import Link, OvsBridge
from podpath.node.node import HOST, Node

SYSTEM = "ovs-system"
"""The datapath device that `ip link` shows as the master of every system port."""

INTERNAL = ("openvswitch", "tun", "")
"""Kinds of an internal port: a vport of the kernel's datapath, a tap of the userspace one, or not
shown.
"""

FUNCTION = "net/openvswitch/vport.c:ovs_vport_receive v6.12"


def bridge_of(node: Node, link: Link) -> OvsBridge | None:
    """Return the Open vSwitch bridge that a device is an interface of."""
    for bridge in node.ovs:
        if any(link.name in interfaces for interfaces in bridge.ports.values()):
            return bridge
        if not bridge.ports and bridge.openflow and link.name in bridge.openflow.ports:
            return bridge
    return None


def is_internal(bridge: OvsBridge, link: Link) -> bool:
    """Tell whether the device is the host's end of a port (type `internal`), and not one that the
    switch took over.
    """
    if link.master == SYSTEM or link.bond_slave_of is not None or link.peer is not None:
        return False
    alone = any(
        interfaces == (link.name,) and port == link.name
        for port, interfaces in bridge.ports.items()
    )
    return alone and (link.kind in INTERNAL or link.name == bridge.name)


def is_taken(node: Node, link: Link) -> bool:
    """Tell whether the switch takes what comes in on the device: of a userspace datapath `ip link`
    shows no master.
    """
    bridge = bridge_of(node, link)
    return bridge is not None and not is_internal(bridge, link)


def internal_ports(namespace: Namespace, bridge: OvsBridge) -> list[Link]:
    """Return the devices by which the host itself is on the bridge."""
    names = [name for interfaces in bridge.ports.values() for name in interfaces]
    links = [namespace.link(name) for name in names]
    inside = [link for link in links if is_internal(bridge, link)]
    addressed = [link for link in inside if link.name in namespace.by_link]
    return addressed or inside


def system_ports(namespace: Namespace, bridge: OvsBridge) -> list[Link]:
    """Return the devices that the switch sends by; of a bond the active slave alone."""
    found: list[Link] = []
    for interfaces in bridge.ports.values():
        links = [link for link in map(namespace.link, interfaces) if not is_internal(bridge, link)]
        active = [link for link in links if link.name == bridge.active_slave]
        found += active or links[:1]
    return found


def emit(walk: Walk, skb: Skb, link: Link) -> Next:
    """Send a frame of the host into the switch, or straight to the wire where the route names a
    port of the switch.
    """
    bridge = bridge_of(walk.engine.node, link)
    if bridge is None or not is_internal(bridge, link):
        return wire.send(walk, skb, link)
    namespace = walk.engine.namespace(HOST)
    dmac = skb.packet.dmac
    reason = HandedToSwitch(link.name, bridge.name)
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        wire.FUNCTION,
        skb.packet,
        StepDecision.TRANSMIT,
        reason,
        link=link.name,
    )
    for other in internal_ports(namespace, bridge):
        if other.name != link.name and dmac == namespace.mac(other):
            skb.link = other
            return RECEIVE
    out = _leads_to(walk, namespace, bridge, link, dmac)
    if out is None:
        return wire.send(walk, skb, link)
    _switch(walk, skb, bridge, link, out)
    skb.port = skb.link = out
    if out.peer is not None:
        return EMIT
    return wire.send(walk, skb, out)


def _leads_to(
    walk: Walk, namespace: Namespace, bridge: OvsBridge, source: Link, dmac: Mac | None
) -> Link | None:
    """Return the port behind which a MAC is: that of a pod that has it, else one that leads out."""
    outward = None
    for port in system_ports(namespace, bridge):
        peer = port.peer.value if isinstance(port.peer, Known) else None
        if peer is None or peer.netns not in walk.engine.node.namespaces:
            outward = outward or port
        elif port.name != source.name:
            space = walk.engine.namespace(peer.netns)
            if dmac == space.mac(space.link(peer.link)):
                return port
    return outward


def _switch(walk: Walk, skb: Skb, bridge: OvsBridge, source: Link, port: Link) -> None:
    walk.trace.step(
        StageName.OPEN_VSWITCH,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.SWITCH,
        Switched(bridge.name, source.name, port.name),
        spans=(bridge.span,) if bridge.span is not None else (),
    )


def receive(walk: Walk, skb: Skb, link: Link) -> Next:
    """Take a frame off a port of the switch: it reaches the internal port that has its MAC, and no
    other takes it.
    """
    bridge = bridge_of(walk.engine.node, link)
    if bridge is None:
        return boundary(walk, skb, BoundaryName.OPENFLOW, link.name)
    namespace = walk.engine.namespace(HOST)
    spans = (bridge.span,) if bridge.span is not None else ()
    dmac = skb.packet.dmac
    inside = internal_ports(namespace, bridge)
    for port in inside:
        if (
            dmac is None
            or dmac == namespace.mac(port)
            or (port.mac is None and not is_symbolic(dmac))
        ):
            _switch(walk, skb, bridge, link, port)
            skb.link = port
            return RECEIVE
    out = _leads_to(walk, namespace, bridge, link, dmac)
    if out is not None and (link.peer is not None or out.peer is not None) and out is not link:
        _switch(walk, skb, bridge, link, out)
        skb.port = skb.link = out
        return EMIT
    floods = SwitchFloods(bridge.name, tuple(port.name for port in inside), dmac)
    walk.trace.step(
        StageName.OPEN_VSWITCH,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.DROP,
        floods,
        spans=spans,
        link=link.name,
    )
    return Dropped(
        netns=skb.netns.name, reason=drop_reason(DropCause.OTHER_HOST, walk.engine.node.kernel)
    )
