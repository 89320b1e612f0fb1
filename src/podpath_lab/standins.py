"""What a twin cannot hold, replaced by what behaves alike: a wire's far end for each device that
leads out of the node.

The far end is a namespace that takes every address for its own, so it answers ARP and connections
whatever the address: an outside host that answers, which is what the model presumes. It lives
beside the node's namespaces and is not part of the node. Between the ports of one bond or Open
vSwitch bridge and their far end stands a switch (`switches`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from podpath.net.addresses import Address, IfName, Mac
from podpath.net.provenance import Known, Listing
from podpath.node.links import Bridge, Link, Peer
from podpath.node.node import Netns, NetnsRole, Node
from podpath_lab.script import ScriptCommand
from podpath_lab.switches import (
    SwitchSegment,
    emit_openvswitch,
    find_segments,
    make_switch,
    port_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """A node whose outward devices have a far end."""

    node: Node
    """With the far ends' namespaces, and a veth in place of each outward device."""
    far_ends: tuple[str, ...]
    """Namespaces that are no part of the node: the far ends, and switches on the way to them."""
    outward: tuple[str, ...]
    """The host's devices that lead to them."""
    behind: Mapping[str, str]
    """Which far end is behind each of these."""
    given: frozenset[tuple[str, str]]
    """(namespace, device) pairs that `switches` make."""
    switches: tuple[ScriptCommand, ...]
    """What makes devices that ip(8) cannot make: Open vSwitch. They run before devices are set
    up.
    """
    commands: tuple[ScriptCommand, ...]
    """What makes the far ends answer; they run after the twin is built."""
    notes: tuple[str, ...]
    """What was replaced, one sentence each."""


def wire_outward_devices(node: Node, *, openvswitch: bool = False) -> Wired:
    """Return every device that leads out of the node a far end; `openvswitch` where that can run
    here.
    """
    wiring = _Wiring(dict(node.namespaces))
    segments = tuple(find_segments(node))
    for netns in node.namespaces.values():
        there = segments if netns.role == NetnsRole.HOST else ()
        for segment in there:
            wiring.plug_segment(netns, segment, switched=openvswitch and segment.bridge is not None)
        members = {name for segment in there for name in (*segment.ports, *segment.inside)}
        for link in netns.links.items:
            if link.name not in members and _leads_out(link):
                wiring.plug(netns, link)
    wiring.forget_neighbours()
    started = emit_openvswitch(node, segments) if openvswitch else ()
    return Wired(
        node=replace(node, namespaces=wiring.namespaces),
        far_ends=tuple(wiring.added),
        outward=tuple(wiring.behind),
        behind=wiring.behind,
        given=frozenset(wiring.given),
        switches=started,
        commands=tuple(wiring.commands),
        notes=tuple(wiring.notes),
    )


@dataclass(slots=True)
class _Wiring:
    """Far ends and switches as they are added."""

    namespaces: dict[str, Netns]
    added: list[str] = field(default_factory=list)
    behind: dict[str, str] = field(default_factory=dict)
    given: set[tuple[str, str]] = field(default_factory=set)
    commands: list[ScriptCommand] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    wires: set[tuple[str, str]] = field(default_factory=set)
    """(namespace, device) pairs that lead to a far end."""

    def plug(self, netns: Netns, link: Link) -> None:
        """Put a veth in place of a device, whose other end answers for all that is behind it."""
        end = self._add_far_end(
            _gateway_mac(netns, (link.name,)), link.mtu, Peer(netns=netns.name, link=link.name)
        )
        self._lay(netns.name, link, Peer(netns=end, link=IfName("eth0")), _kept_master(link, netns))
        self._note_wire(netns, link.name, end)
        self.notes.append(
            f"{link.name} of {netns.name} is a veth here; {end} stands for all that is behind it"
        )

    def plug_segment(self, netns: Netns, segment: SwitchSegment, *, switched: bool) -> None:
        """Plug a bond's or switch's ports into one switch that learns, and a far end beside
        them.
        """
        links = {link.name: link for link in netns.links.items}
        plugged = segment.ports if switched else (*segment.ports, *segment.inside)
        number = sum(name.startswith("switch-") for name in self.added)
        switch, held = (
            f"switch-{number}",
            Link(name=IfName(f"held{number}"), kind="bridge", bridge=Bridge(), up=False),
        )
        mtu = links[segment.ports[0]].mtu
        uplink = Peer(netns=switch, link=port_of(len(plugged)))
        end = self._add_far_end(_gateway_mac(netns, (*segment.inside, *segment.ports)), mtu, uplink)
        plugs = (*((netns.name, name) for name in plugged), (end, IfName("eth0")))
        self.added.append(switch)
        self.namespaces[switch] = make_switch(switch, number, plugs)
        for place, name in enumerate(plugged):
            master = held.name if name in segment.ports and not switched else None
            self._lay(netns.name, links[name], Peer(netns=switch, link=port_of(place)), master)
        if switched:
            self.given |= {(netns.name, name) for name in segment.inside}
        else:
            self._add_link(netns.name, held)
        for name in (*segment.ports, *segment.inside):
            self._note_wire(netns, name, end)
        if switched:
            how = "Open vSwitch runs here with its userspace datapath"
        else:
            how = "a stand-in holds its ports"
        ports = ", ".join(segment.ports)
        self.notes.append(
            f"{segment.name} of {netns.name}: {how}; {ports} lead to {switch}, which learns MACs, "
            f"and {end} is behind it"
        )

    def forget_neighbours(self) -> None:
        """Drop entries of neighbors that no far end plays."""
        macs = {link.mac for name in self.added for link in self.namespaces[name].links.items}
        for name, netns in self.namespaces.items():
            kept = tuple(
                entry
                for entry in netns.neighbours.items
                if (name, entry.link) not in self.wires or entry.mac in macs
            )
            self.namespaces[name] = replace(netns, neighbours=netns.neighbours._replace(items=kept))

    def _note_wire(self, netns: Netns, device: str, end: str) -> None:
        self.wires.add((netns.name, device))
        if netns.role == NetnsRole.HOST:
            self.behind[device] = end

    def _lay(self, netns: str, link: Link, peer: Peer, master: IfName | None) -> None:
        """Make a device one end of a veth pair."""
        laid = replace(
            link,
            kind="veth",
            peer=Known(peer),
            master=master,
            bond_slave_of=None,
            port=link.port if master else None,
        )
        home = self.namespaces[netns]
        links = tuple(laid if each.name == link.name else each for each in home.links.items)
        self.namespaces[netns] = replace(home, links=home.links._replace(items=links))

    def _add_link(self, netns: str, link: Link) -> None:
        home = self.namespaces[netns]
        self.namespaces[netns] = replace(
            home, links=home.links._replace(items=(link, *home.links.items))
        )

    def _add_far_end(self, mac: Mac | None, mtu: int, peer: Peer) -> str:
        number = sum(name.startswith("wire-") for name in self.added)
        name = f"wire-{number}"
        self.added.append(name)
        self.namespaces[name] = _far_end(
            name, mac or Mac(f"02:77:00:00:00:{number + 1:02x}"), mtu, peer
        )
        self.commands += _answer_for_all(name)
        return name


def _leads_out(link: Link) -> bool:
    built = isinstance(link.peer, Known) or link.bridge is not None or link.vxlan is not None
    return link.name != "lo" and link.up and not built and not link.name.startswith("ovs-")


def _kept_master(link: Link, netns: Netns) -> IfName | None:
    """Keep a master only where the twin has it: a bridge is built, a bond or Open vSwitch is
    not.
    """
    bridges = {other.name for other in netns.links.items if other.bridge is not None}
    return link.master if link.master in bridges else None


def _far_end(name: str, mac: Mac, mtu: int, peer: Peer) -> Netns:
    links = (
        Link(name=IfName("lo"), mtu=65536),
        Link(name=IfName("eth0"), kind="veth", mac=mac, mtu=mtu, peer=Known(peer)),
    )
    return Netns(
        name=name,
        role=NetnsRole.OTHER,
        links=Listing(links, True, "ip link"),
        addresses=Listing((), True, "ip addr"),
        routes=Listing((), True, "ip route"),
    )


def _gateway_mac(home: Netns, devices: tuple[str, ...]) -> Mac | None:
    """Return the MAC that the node already knows for its gateway on a device, so that its neighbor
    entry stays true.
    """
    known: dict[Address, Mac] = {}
    for entry in home.neighbours.items:
        if entry.link in devices and entry.mac:
            known[entry.address] = entry.mac
    hops = [hop for route in home.routes.items for hop in route.nexthops if hop.link in devices]
    for hop in hops:
        if hop.gateway and hop.gateway in known:
            return known[hop.gateway]
    return next(iter(known.values()), None)


def _answer_for_all(name: str) -> tuple[ScriptCommand, ...]:
    """Make every address local to what comes in, and everything outward to what goes out.

    The local table holds them: a sender's source is looked up there
    (net/ipv4/route.c:ip_route_output_key_hash_rcu v6.12).
    """
    lines = (
        "addr add 192.0.0.8/32 dev lo",
        "route add local 0.0.0.0/0 dev lo table local",
        "rule add iif eth0 priority 10 lookup local",
        "rule del priority 0",
        "route add default dev eth0 src 192.0.0.8",
    )
    keys = (
        "net.ipv4.conf.eth0.accept_local = 1",
        "net.ipv4.conf.all.accept_local = 1",
        "net.ipv4.conf.all.rp_filter = 0",
    )
    return (
        ScriptCommand(("ip", "-n", name, "-batch", "-"), "".join(f"{line}\n" for line in lines)),
        ScriptCommand(("sysctl", "-q", "-p", "-"), "".join(f"{key}\n" for key in keys), name),
    )
