"""Where the ends of a connection are: a process in a namespace of the node, or a host behind one of
its devices.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from podpath.datapath.cilium import programs as cilium
from podpath.datapath.devices import openvswitch
from podpath.datapath.devices.bridge_ports import (
    find_owner,
    leads_to_one,
    outside_mac,
    place_outside,
)
from podpath.datapath.devices.macvlan import list_children
from podpath.datapath.devices.segment import bridge_over, is_bridge, survey
from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons.failures import EndPlace
from podpath.datapath.routing.assumed import likeliest_uplinks, look_up
from podpath.datapath.tracing.frames import with_macs
from podpath.datapath.tracing.trace import Delivered, Transmitted
from podpath.datapath.walk.offload import is_left_to_device
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address, IfName, Mac, Prefix
from podpath.net.errors import UsageError
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.net.provenance import Basis, Inferred, Option
from podpath.node.links import Link, Peer
from podpath.node.node import HOST, Node

UNSEEN = Link(
    name=IfName("(a device that the evidence does not show)"),
    inferred=Inferred(Basis.GUESSED, "the evidence shows no device"),
)


class ConnectionEnd(NamedTuple):
    """One end of a connection."""

    netns: str
    """The namespace it is in, or whose device leads to it."""
    link: Link | None = None
    """None for a process of the namespace; else the device behind which the host is."""
    met: Mac | None = None
    """The MAC under which the host outside knows the node."""
    outer: Packet | None = None
    """The outer packet by which a tunnel reached it."""
    tunnel: Link | None = None
    switch: str | None = None
    """The bond or Open vSwitch bridge that the device is a port of: all its ports lead to the same
    hosts.
    """
    wires: frozenset[Prefix | None] = frozenset()
    """The networks between nodes that the device is on: whoever is there is one host to all of
    them.
    """

    @property
    def end(self) -> EndPlace:
        """Return what is told of it where a packet is misdelivered."""
        return EndPlace(self.netns, self.link.name if self.link is not None else None)

    def same(self, other: ConnectionEnd) -> bool:
        """Tell whether both are one host, as far as the model can tell: uplinks may lead to the
        same one.
        """
        if self.link is not None and other.link is not None and self.wires & other.wires:
            return True
        if self.netns != other.netns or self.link is None or other.link is None:
            return self.netns == other.netns and self.link is other.link
        if self.switch is not None and self.switch == other.switch:
            return True
        # What left by a tunnel is behind it, and not behind the device that carries its packets.
        one, another = self.tunnel or self.link, other.tunnel or other.link
        return one.name == another.name or not (leads_to_one(one) or leads_to_one(another))


def place_sender(walk: Walk, probe: Probe) -> ConnectionEnd:
    """Find where the probe's first packet starts; `UsageError` where it names a place that the node
    does not have.
    """
    node = walk.engine.node
    if probe.netns is not None:
        if probe.netns not in node.namespaces:
            names = ", ".join(node.namespaces)
            raise UsageError(
                f"expected a network namespace of the node ({names}), saw {probe.netns!r}"
                f"{_suggest(probe.netns, node.namespaces)}"
            )
        return ConnectionEnd(probe.netns)
    if probe.in_dev is not None:
        return _place_on_device(walk, probe.in_dev, probe.src)
    owners = [name for name in node.namespaces if walk.engine.namespace(name).owns(probe.src)]
    if not owners and probe.src.is_loopback:
        owners = [HOST]
    if len(owners) > 1:
        options = tuple(Option(name, f"the sender is in {name}") for name in owners)
        return ConnectionEnd(
            walk.choices.choose(
                f"the namespace that sends from {probe.src}",
                options,
                ask="ip netns exec NAME ip addr",
            )
        )
    if owners:
        return ConnectionEnd(owners[0])
    return _place_by_route(walk, probe)


def _suggest(name: str, known: Iterable[str]) -> str:
    """Ask whether a name that is spelled nearly so, or begins so, was meant."""
    names = list(known)
    begun = [each for each in names if name and each.startswith(name)]
    near = begun[:2] or get_close_matches(name, names, n=2, cutoff=0.7)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return ""


def check_device(walk: Walk, place: ConnectionEnd, device: str) -> None:
    """Raise `UsageError` where a socket is to be bound to a device that its namespace lacks, or is
    no socket of the node at all.
    """
    if device and place.link is not None:
        raise UsageError(
            f"expected a sender on the node, whose socket is bound to {device!r}, saw one outside"
        )
    namespace = walk.engine.namespace(place.netns)
    if device and namespace.netns.links.complete and device not in namespace.links:
        names = ", ".join(sorted(namespace.links))
        raise UsageError(
            f"expected a device of {place.netns} ({names}), saw {device!r}"
            f"{_suggest(device, namespace.links)}"
        )


def _place_on_device(walk: Walk, device: str, src: Address) -> ConnectionEnd:
    """Take what comes in on a device to be from behind it, and on a bridge to be from the pod
    behind one of its ports that has the address, where there is one.
    """
    for name in sorted(walk.engine.node.namespaces, key=lambda name: name != HOST):
        namespace = walk.engine.namespace(name)
        if device in namespace.links:
            link = namespace.links[device]
            owner = find_owner(walk, namespace, link, src) if is_bridge(link) else None
            if owner is not None:
                return ConnectionEnd(owner)
            return _outside(walk, namespace, link, src)
    namespace = walk.engine.namespace(HOST)
    if namespace.netns.links.complete:
        names = ", ".join(sorted(namespace.links))
        raise UsageError(
            f"expected a device of the host ({names}), saw {device!r}"
            f"{_suggest(device, namespace.links)}"
        )
    return _outside(walk, namespace, namespace.link(device), src)


def _place_by_route(walk: Walk, probe: Probe) -> ConnectionEnd:
    """Take a sender that is not on the node to be where the host's routes lead back to it."""
    namespace = walk.engine.namespace(_entered(walk, probe.dst))
    found = look_up(walk.choices, namespace, FlowKey(probe.src))
    if found.type == "unicast":
        hops = [hop for hop in found.nexthops if hop.link is not None and hop.link != "lo"]
    else:
        hops = []
    if not hops:
        uplinks = likeliest_uplinks(namespace)
        return ConnectionEnd(namespace.name, uplinks[0] if uplinks else UNSEEN)
    hop = hops[0]
    if len(hops) > 1:
        options = tuple(Option(item, f"it comes in on {item.link}") for item in hops)
        hop = walk.choices.choose(f"the device that {probe.src} comes in on", options, random=True)
    if walk.engine.cilium is not None and cilium.leads_to_own_pods(found.route, hop):
        return ConnectionEnd(namespace.name, UNSEEN)
    return _outside(walk, namespace, namespace.link(str(hop.link)), probe.src)


def _entered(walk: Walk, dst: Address) -> str:
    """Return the host at which a packet from outside comes in: of several nodes the one that has
    the address.
    """
    hosts = (end.netns for wire in walk.engine.node.wires for end in wire.ends)
    owners = (name for name in dict.fromkeys(hosts) if walk.engine.namespace(name).owns(dst))
    return next(owners, HOST)


def _outside(walk: Walk, namespace: Namespace, link: Link, src: Address) -> ConnectionEnd:
    if is_bridge(link):
        link = place_outside(walk, namespace, link, src)
    elif walk.engine.cilium is not None and link.name == cilium.HOST_DEVICE:
        names = [name for name in cilium.OVERLAYS if name in namespace.links]
        link = namespace.link(names[0] if names else cilium.OVERLAYS[0])
    switch = openvswitch.bridge_of(walk.engine.node, link)
    if switch is not None and openvswitch.is_internal(switch, link):
        link = next(iter(openvswitch.system_ports(namespace, switch)), link)
    return ConnectionEnd(
        namespace.name,
        link,
        switch=_switch_of(walk.engine.node, link),
        wires=_wires_of(walk, namespace, link),
    )


def place_of(walk: Walk, outcome: Delivered | Transmitted) -> ConnectionEnd:
    """Return the place that a packet has come to."""
    if isinstance(outcome, Delivered):
        return ConnectionEnd(outcome.netns)
    namespace = walk.engine.namespace(outcome.netns)
    frame = outcome.outer if outcome.outer is not None else outcome.packet
    tunnel = namespace.link(outcome.tunnel) if outcome.tunnel is not None else None
    link = namespace.link(outcome.link)
    return ConnectionEnd(
        outcome.netns,
        link,
        frame.smac,
        outcome.outer,
        tunnel,
        _switch_of(walk.engine.node, link),
        _wires_of(walk, namespace, link),
    )


def _wires_of(walk: Walk, namespace: Namespace, link: Link) -> frozenset[Prefix | None]:
    found = walk.engine.wires.get((namespace.name, str(link.name)), ())
    return frozenset(wire.prefix for wire in found)


def _switch_of(node: Node, link: Link) -> str | None:
    bridge = openvswitch.bridge_of(node, link)
    if bridge is not None:
        return bridge.name
    if link.kind == "bond":
        return link.name
    return link.bond_slave_of


def send_from(walk: Walk, place: ConnectionEnd, packet: Packet, *, by_kernel: bool = False) -> Skb:
    """Make the packet that a place sends, as the node first sees it; `by_kernel` where no socket of
    its own sends it.
    """
    netns = walk.engine.node.namespaces[place.netns]
    link = place.link
    if link is None:
        partial = is_left_to_device(packet) and not by_kernel
        return Skb(packet, netns, uid=0, by_kernel=by_kernel, partial=partial)
    namespace = walk.engine.namespace(place.netns)
    if place.outer is not None:
        outer = _answer_outer(place.outer)
        framed = with_macs(outer, None, place.met)
        return Skb(framed, netns, link=link, inner=packet, tunnel=place.tunnel)
    segment = bridge_over(namespace, link) or link
    dmac = _next_mac(walk, namespace, link, packet, place.met)
    return Skb(
        with_macs(packet, outside_mac(walk, namespace, segment, packet.src), dmac), netns, link=link
    )


def _answer_outer(outer: Packet) -> Packet:
    """Return the packet that carries the answer back: vxlan's destination port is the same both
    ways.
    """
    if outer.protocol == protocols.UDP:
        return outer._replace(src=outer.dst, dst=outer.src, ttl=64)
    return outer._replace(src=outer.dst, dst=outer.src, ttl=64)


def _mac_on_wire(walk: Walk, namespace: Namespace, link: Link, packet: Packet) -> Mac | None:
    """Return the MAC of the macvlan device that has a packet's destination and shares the wire of a
    device; None where none does.
    """
    for child in list_children(walk.engine, Peer(netns=namespace.name, link=link.name)):
        other = walk.engine.namespace(child.netns)
        if any(item.address == packet.dst for item in other.by_link.get(child.link, ())):
            return other.mac(other.link(child.link))
    return None


def _next_mac(
    walk: Walk, namespace: Namespace, link: Link, packet: Packet, met: Mac | None
) -> Mac | None:
    """Return the MAC that a host outside sends to: of its destination on the same subnet, else of
    the node as it met it.
    """
    switch = openvswitch.bridge_of(walk.engine.node, link)
    if switch is not None and not openvswitch.is_internal(switch, link):
        inside = openvswitch.internal_ports(namespace, switch)
        return met or (namespace.mac(inside[0]) if inside else None)
    bridge = bridge_over(namespace, link)
    if bridge is None:
        return _mac_on_wire(walk, namespace, link, packet) or met or namespace.mac(link)
    for station in survey(walk, namespace.name, link, arriving=True).stations:
        other = walk.engine.namespace(station.netns)
        if any(item.address == packet.dst for item in other.by_link.get(station.link.name, ())):
            return other.mac(station.link)
    items = namespace.by_link.get(bridge.name, ())
    if any(item.prefix.covers(packet.src) and item.prefix.covers(packet.dst) for item in items):
        return outside_mac(walk, namespace, bridge, packet.dst)
    return namespace.mac(bridge)
