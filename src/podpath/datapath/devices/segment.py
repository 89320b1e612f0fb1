"""Who hears a frame that is sent on a device: the stations of its layer 2 segment within the node,
and where it leads out.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.devices import macvlan, openvswitch, underlay
from podpath.datapath.devices.veth import peer_of
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons.bridges import (
    BothIsolated,
    HairpinOff,
    Hold,
    NotInVlan,
    PortDown,
    PortState,
)
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Mac
from podpath.node.links import BridgePort, Link, OvsBridge, Peer, Vxlan

_PLAIN = BridgePort()
NOBODY = Mac("00:00:00:00:00:00")
"""The key of a vxlan device's default entries in `bridge fdb`."""


class Station(NamedTuple):
    """A device that takes frames off the segment for IP."""

    netns: str
    link: Link


class Segment(NamedTuple):
    """What is reached from a device."""

    stations: tuple[Station, ...]
    exits: tuple[Station, ...]
    """Devices by which frames leave the model."""


class _Survey:
    """One search under way."""

    __slots__ = ("broadcast", "exits", "seen", "stations", "walk")

    def __init__(self, walk: Walk, *, broadcast: bool) -> None:
        self.walk = walk
        self.broadcast = broadcast
        self.stations: list[Station] = []
        self.exits: list[Station] = []
        self.seen: set[tuple[str, str]] = set()

    def emit(self, netns: str, link: Link, vlan: int | None = None) -> None:
        """Follow a frame that a device sends."""
        namespace = self.walk.engine.namespace(netns)
        if link.name == "lo" or (netns, link.name) in self.seen:
            return
        self.seen.add((netns, link.name))
        switch = openvswitch.bridge_of(self.walk.engine.node, link)
        if link.peer is not None:
            peer = peer_of(self.walk, link)
            if peer is not None:
                self.arrive(peer.netns, self.walk.engine.namespace(peer.netns).link(peer.link))
                return
        elif switch is not None and openvswitch.is_internal(switch, link):
            self.emit_by_switch(namespace, link, switch)
            return
        elif is_bridge(link):
            for port in namespace.ports.get(link.name, ()):
                if self.passes(link, None, port, vlan):
                    self.emit(netns, port, vlan)
            return
        elif link.macvlan is not None:
            self.emit_on_parent(Peer(netns=netns, link=link.name), link, link.macvlan.parent)
            return
        elif link.vxlan is not None and self.stays(namespace, link, link.vxlan):
            return
        for end in underlay.others_on(self.walk, netns, link.name):
            self.arrive(end.netns, self.walk.engine.namespace(end.netns).link(end.link))
        self.exits.append(Station(netns, link))

    def emit_on_parent(self, place: Peer, link: Link, parent: Peer) -> None:
        """Let a frame of a macvlan device reach the others of its parent, and out of that."""
        engine = self.walk.engine
        for other in macvlan.list_siblings(engine, place, link):
            self.arrive(other.netns, engine.namespace(other.netns).link(other.link))
        self.emit(parent.netns, engine.namespace(parent.netns).link(parent.link))

    def emit_by_switch(self, namespace: Namespace, link: Link, switch: OvsBridge) -> None:
        """Let a frame of an internal port reach the other ports of its switch."""
        for port in openvswitch.internal_ports(namespace, switch):
            if port.name != link.name:
                self.stations.append(Station(namespace.name, port))
        self.emit_by_ports(namespace, link, switch)

    def emit_by_ports(self, namespace: Namespace, link: Link, switch: OvsBridge) -> None:
        """Let a frame out of the other system ports of a switch: to pods, or out of the model.

        Where flows decide, a device that is no station may answer: flows do it for whom they know.
        """
        inside = link.peer is not None or openvswitch.is_internal(switch, link)
        for port in openvswitch.system_ports(namespace, switch):
            if port.name == link.name:
                continue
            if port.peer is not None:
                self.emit(namespace.name, port)
            elif inside:
                self.exits.append(Station(namespace.name, port))
        if switch.openflow is not None or switch.program is not None:
            self.exits.append(Station(namespace.name, link))

    def passes(self, bridge: Link, source: Link | None, port: Link, vlan: int | None) -> bool:
        """Tell whether a bridge lets the frame out of a port (`br_forward.c:br_flood`)."""
        floods = not self.broadcast or (port.port or _PLAIN).bcast_flood
        return floods and may_pass(bridge, source, port, vlan)

    def stays(self, namespace: Namespace, link: Link, details: Vxlan) -> bool:
        """Tell whether nothing leaves the model by a vxlan device: it knows no end for what is sent
        to all, or only such as the model holds.
        """
        if namespace.netns.fdb.complete and not _floods(namespace, link, details):
            return True
        return self.follow_tunnel(namespace, link, details)

    def follow_tunnel(self, namespace: Namespace, link: Link, details: Vxlan) -> bool:
        """Follow what a vxlan device sends to all to the ends that the model holds; true where that
        is every one.
        """
        defaults = namespace.fdb.get((link.name, NOBODY), ())
        remotes = {details.remote, *(entry.dst for entry in defaults)} - {None}
        held = set()
        for netns in self.walk.engine.node.namespaces.values():
            for address in {item.address for item in netns.addresses.items} & remotes:
                held.add(address)
                for other in netns.links.items:
                    if other.up and _is_same_network(other, details):
                        self.arrive(netns.name, other)
        return bool(remotes) and held == remotes

    def arrive(self, netns: str, link: Link) -> None:
        """Follow a frame that a device receives."""
        namespace = self.walk.engine.namespace(netns)
        for child in macvlan.list_children(self.walk.engine, Peer(netns=netns, link=link.name)):
            held = self.walk.engine.namespace(child.netns).link(child.link)
            if held.up:
                self.arrive(child.netns, held)
        bridge = bridge_over(namespace, link)
        if bridge is not None:
            vlan = ingress_vlan(bridge, link)
            self.stations.append(Station(netns, bridge))
            self.seen.add((netns, link.name))
            for port in namespace.ports.get(bridge.name, ()):
                if port.name != link.name and self.passes(bridge, link, port, vlan):
                    self.emit(netns, port, vlan)
            return
        switch = openvswitch.bridge_of(self.walk.engine.node, link)
        if switch is not None and not openvswitch.is_internal(switch, link):
            self.stations += [
                Station(netns, port) for port in openvswitch.internal_ports(namespace, switch)
            ]
            self.seen.add((netns, link.name))
            self.emit_by_ports(namespace, link, switch)
        elif link.master is not None and link.master != openvswitch.SYSTEM:
            self.stations.append(Station(netns, namespace.link(link.master)))
        else:
            self.stations.append(Station(netns, link))


def _is_same_network(link: Link, details: Vxlan) -> bool:
    other = link.vxlan
    return other is not None and (other.vni, other.port) == (details.vni, details.port)


def _floods(namespace: Namespace, link: Link, details: Vxlan) -> bool:
    """Tell whether a vxlan device knows a remote end for what is sent to all (`vxlan_xmit`)."""
    return details.remote is not None or bool(namespace.fdb.get((link.name, NOBODY)))


def survey(
    walk: Walk, netns: str, link: Link, *, arriving: bool = False, broadcast: bool = False
) -> Segment:
    """Find who hears what is sent on a device, or (`arriving`) what comes in on it from outside;
    `broadcast` asks for a frame that is for all, as an ARP request is.
    """
    namespace = walk.engine.namespace(netns)
    key = ("segment", link.name, arriving, broadcast)
    known = namespace.answers.get(key)
    if isinstance(known, Segment):
        return known
    asked = walk.choices.asked
    search = _Survey(walk, broadcast=broadcast)
    if arriving:
        search.arrive(netns, link)
    else:
        search.emit(netns, link)
    found = Segment(tuple(search.stations), tuple(search.exits))
    if walk.choices.asked == asked:
        namespace.answers[key] = found
    return found


def is_bridge(link: Link) -> bool:
    """Tell whether a device is a Linux bridge."""
    return link.kind == "bridge" or link.bridge is not None


def bridge_over(namespace: Namespace, link: Link) -> Link | None:
    """Return the bridge that a device is a port of."""
    if link.master is None or link.master == openvswitch.SYSTEM:
        return None
    master = namespace.links.get(link.master)
    if master is None:
        if link.port is not None:
            return namespace.link(link.master)
        return None
    if is_bridge(master) or (not master.kind and link.port is not None):
        return master
    return None


def ingress_vlan(bridge: Link, port: Link) -> int | None:
    """Return the VLAN that a filtering bridge puts an untagged frame of a port into; None where it
    does not filter.
    """
    if bridge.bridge is None or not bridge.bridge.vlan_filtering:
        return None
    return (port.port or _PLAIN).pvid


def may_pass(bridge: Link, source: Link | None, port: Link, vlan: int | None) -> bool:
    """Tell whether a bridge lets a frame out of a port (`net/bridge/br_forward.c:should_deliver
    v6.12`).
    """
    return why_held(bridge, source, port, vlan) is None


def why_held(bridge: Link, source: Link | None, port: Link, vlan: int | None) -> Hold | None:
    """Say why a bridge does not let a frame out of a port; None where it does."""
    out = port.port or _PLAIN
    if not port.up:
        return PortDown(port.name)
    if out.state != "forwarding":
        return PortState(port.name, out.state)
    if source is not None and source.name == port.name and not out.hairpin:
        return HairpinOff(port.name)
    if source is not None and source.port is not None and source.port.isolated and out.isolated:
        return BothIsolated(source.name, port.name)
    filters = bridge.bridge is not None and bridge.bridge.vlan_filtering
    if filters and vlan is not None and vlan not in out.vlans:
        return NotInVlan(port.name, vlan)
    return None
