"""What a twin cannot hold, replaced by what behaves alike: a wire's far end for each device that leads out of the node.

The far end is a namespace that takes every address for its own, so it answers ARP and connections whatever the address: an
outside host that answers, which is what the model presumes. It lives beside the node's namespaces and is no part of the node.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from podpath.lab.script import Command
from podpath.net.addresses import IfName, Mac
from podpath.net.provenance import Known, Listing
from podpath.node.links import Link, Peer
from podpath.node.node import HOST, Netns, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """A node whose outward devices have a far end."""

    node: Node
    """With the far ends' namespaces, and a veth in place of each outward device."""
    far_ends: tuple[str, ...]
    """Their namespaces."""
    outward: tuple[str, ...]
    """The host's devices that lead to them."""
    commands: tuple[Command, ...]
    """What makes the far ends answer; they run after the twin is built."""
    notes: tuple[str, ...]
    """What was replaced, one sentence each."""


def wire_outward_devices(node: Node) -> Wired:
    """Give every device that leads out of the node a far end."""
    namespaces = dict(node.namespaces)
    commands: list[Command] = []
    notes: list[str] = []
    ends: list[str] = []
    outward: list[str] = []
    for netns in node.namespaces.values():
        links = []
        for link in netns.links.items:
            if not _leads_out(link):
                links.append(link)
                continue
            name = f"wire-{len(ends)}"
            ends.append(name)
            if netns.role == HOST:
                outward.append(link.name)
            links.append(
                replace(link, kind="veth", peer=Known(Peer(netns=name, link=IfName("eth0"))), master=_kept_master(link, netns))
            )
            namespaces[name] = _far_end(name, netns, link, len(ends))
            commands += _answer_for_all(name)
            notes.append(f"{link.name} of {netns.name} is a veth here; {name} stands for all that is behind it")
        macs = {link.mac for name in ends for link in namespaces[name].links.items}
        wired = {link.name for link in links if isinstance(link.peer, Known) and link.peer.value.netns in ends}
        kept = tuple(entry for entry in netns.neighbours.items if entry.link not in wired or entry.mac in macs)
        namespaces[netns.name] = replace(
            netns, links=netns.links._replace(items=tuple(links)), neighbours=netns.neighbours._replace(items=kept)
        )
    return Wired(
        node=replace(node, namespaces=namespaces), far_ends=tuple(ends), outward=tuple(outward), commands=tuple(commands),
        notes=tuple(notes),
    )  # fmt: skip


def _leads_out(link: Link) -> bool:
    built = isinstance(link.peer, Known) or link.bridge is not None or link.vxlan is not None
    return link.name != "lo" and link.up and not built and not link.name.startswith("ovs-")


def _kept_master(link: Link, netns: Netns) -> IfName | None:
    """Keep a master only where the twin has it: a bridge is built, a bond or Open vSwitch is not."""
    bridges = {other.name for other in netns.links.items if other.bridge is not None}
    return link.master if link.master in bridges else None


def _far_end(name: str, home: Netns, link: Link, number: int) -> Netns:
    peer = Known(Peer(netns=home.name, link=link.name))
    mac = _gateway_mac(home, link) or Mac(f"02:77:00:00:00:{number:02x}")
    links = (Link(name=IfName("lo"), mtu=65536), Link(name=IfName("eth0"), kind="veth", mac=mac, mtu=link.mtu, peer=peer))
    return Netns(
        name=name, role="other", links=Listing(links, True, "ip link"), addresses=Listing((), True, "ip addr"),
        routes=Listing((), True, "ip route"),
    )  # fmt: skip


def _gateway_mac(home: Netns, link: Link) -> Mac | None:
    """Give the MAC that the node already knows for its gateway on a device, so that its neighbour entry stays true."""
    gateways = [hop.gateway for route in home.routes.items for hop in route.nexthops if hop.link == link.name and hop.gateway]
    known = {entry.address: entry.mac for entry in home.neighbours.items if entry.link == link.name and entry.mac}
    return next((known[gateway] for gateway in gateways if gateway in known), next(iter(known.values()), None))


def _answer_for_all(name: str) -> tuple[Command, ...]:
    """Make every address local to what comes in, and everything outward to what goes out.

    The local table holds them: a sender's source is looked up there (net/ipv4/route.c:ip_route_output_key_hash_rcu v6.12).
    """
    lines = (
        "addr add 192.0.0.8/32 dev lo",
        "route add local 0.0.0.0/0 dev lo table local",
        "rule add iif eth0 priority 10 lookup local",
        "rule del priority 0",
        "route add default dev eth0 src 192.0.0.8",
    )  # fmt: skip
    keys = ("net.ipv4.conf.eth0.accept_local = 1", "net.ipv4.conf.all.accept_local = 1", "net.ipv4.conf.all.rp_filter = 0")
    return (
        Command(("ip", "-n", name, "-batch", "-"), "".join(f"{line}\n" for line in lines)),
        Command(("sysctl", "-q", "-p", "-"), "".join(f"{key}\n" for key in keys), name),
    )
