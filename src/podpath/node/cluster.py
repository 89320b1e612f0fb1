"""Several nodes as one model: the namespaces of all of them, and the wires between.

A walk goes through one model, so the nodes are joined into one, as one of them sees it: its own
namespaces keep their names, those of another node have that node's before theirs
(`node2/host`). Whatever is asked or mended on the node at hand is then spelled as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeVar

from podpath.net.addresses import Address, IfName, Prefix
from podpath.net.provenance import Fact, Known, Listing, Unknown
from podpath.node.links import InterfaceAddress, Link, Peer
from podpath.node.netfilter import Netfilter, Table
from podpath.node.node import Netns, NetnsRole, Node, Pod
from podpath.node.routing import Route
from podpath.node.wires import Wire, WireEnd

T = TypeVar("T")

_WITHIN = frozenset(
    {"dummy", "geneve", "gre", "ifb", "ipip", "loopback", "nlmon", "sit", "tun", "vxlan", "vti"}
    | {"ip6tnl", "wireguard", "xfrm"}
)
"""Kinds of device that are on no network between nodes by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Nodes by name, each as its own evidence has it."""

    nodes: Mapping[str, Node]
    moved: Mapping[str, tuple[Netns, ...]] = field(default_factory=dict)
    """What `move_node` makes of nodes, where it was made already: every view may share it."""

    def seen_from(self, home: str) -> Node:
        """Return the model of all nodes with the names as one of them has them; it is called as the
        cluster calls it, whatever its own host name is (kubelet's --hostname-override).
        """
        own = self.nodes[home]
        beside = {name: node for name, node in self.nodes.items() if name != home}
        namespaces = dict(own.namespaces)
        pods = list(own.pods)
        for name, node in beside.items():
            for netns in self.moved.get(name) or move_node(name, node):
                namespaces[netns.name] = netns
            pods = _merge_pods(pods, name, node)
        joined = replace(own, name=home, namespaces=namespaces, pods=tuple(pods), beside=beside)
        return replace(joined, wires=lay_wires(home, joined))


def name_in(home: str, node: str, netns: str) -> str:
    """Return the name that a node's namespace has as `home` sees it."""
    return netns if node == home else f"{node}/{netns}"


def move_node(name: str, node: Node) -> tuple[Netns, ...]:
    """Return a node's namespaces with the names that any other node sees them under."""
    return tuple(_move(netns, name) for netns in node.namespaces.values())


def _move(netns: Netns, node: str) -> Netns:
    """Return a namespace with the name that another node sees it under."""

    def listed(listing: Listing[T]) -> Listing[T]:
        return listing._replace(ask=f"on {node}: {listing.ask}")

    links = tuple(_move_link(link, node) for link in netns.links.items)
    return replace(
        netns,
        name=f"{node}/{netns.name}",
        inside=netns.name,
        node=node,
        links=listed(netns.links._replace(items=links)),
        addresses=listed(netns.addresses),
        routes=listed(netns.routes),
        rules=listed(netns.rules),
        neighbours=listed(netns.neighbours),
        fdb=listed(netns.fdb),
        nftables=listed(netns.nftables),
        conntrack=listed(netns.conntrack),
        sockets=listed(netns.sockets),
        sysctls={key: _move_fact(fact, node) for key, fact in netns.sysctls.items()},
        netfilter={
            family: _move_netfilter(filtered, node) for family, filtered in netns.netfilter.items()
        },
    )


def _move_fact(fact: Fact[T], node: str) -> Fact[T]:
    """Return a fact whose question names its node: two nodes have facts of one name."""
    if isinstance(fact, Known):
        return fact
    return fact._replace(fact=f"{fact.fact} on {node}", ask=f"on {node}: {fact.ask}")


def _move_link(link: Link, node: str) -> Link:
    if link.peer is None:
        return link
    if isinstance(link.peer, Known):
        peer = link.peer.value
        moved = Peer(netns=f"{node}/{peer.netns}", link=peer.link)
        return replace(link, peer=link.peer._replace(value=moved))
    return replace(link, peer=_move_peers(link.peer, node))


def _move_peers(fact: Unknown[Peer], node: str) -> Fact[Peer]:
    options = tuple(
        option._replace(
            value=Peer(netns=f"{node}/{option.value.netns}", link=option.value.link),
            meaning=f"{option.meaning} on {node}",
        )
        for option in fact.options
    )
    return _move_fact(fact._replace(options=options), node)


def _move_netfilter(filtered: Netfilter, node: str) -> Netfilter:
    tables = tuple(_move_table(table, node) for table in filtered.tables)
    return replace(filtered, tables=tables, ask=f"on {node}: {filtered.ask}")


def _move_table(table: Table, node: str) -> Table:
    if not any(isinstance(chain, Unknown) for chain in table.chains.values()):
        return table
    chains = {name: _move_fact(chain, node) for name, chain in table.chains.items()}
    return replace(table, chains=chains)


def _merge_pods(known: list[Pod], name: str, node: Node) -> list[Pod]:
    """Return the pods that either evidence describes, each with the namespace that is its own."""
    merged = {(pod.namespace, pod.name): pod for pod in known}
    for pod in node.pods:
        key = (pod.namespace, pod.name)
        placed = pod.netns is not None and pod.netns in node.namespaces
        there = f"{name}/{pod.netns}" if placed else None
        first = merged.setdefault(key, replace(pod, netns=there))
        if there is not None and first.netns is None:
            merged[key] = replace(first, netns=there, node=first.node or name)
    return list(merged.values())


def lay_wires(home: str, joined: Node) -> tuple[Wire, ...]:
    """Return the wires between the nodes of a joined model: their devices with addresses of one
    subnet; one over routers, for nodes that share none; and one over routers that know the pods,
    where no node routes those of another itself.
    """
    hosts = [netns for netns in joined.namespaces.values() if netns.role == NetnsRole.HOST]
    ends = [pair for netns in hosts for pair in _list_ends(netns, netns.node or home)]
    subnets: dict[Prefix, list[tuple[InterfaceAddress, WireEnd]]] = {}
    for item, end in ends:
        subnets.setdefault(item.prefix, []).append((item, end))
    wires: list[Wire] = []
    for prefix, on_it in subnets.items():
        of_subnet = tuple(end for _, end in on_it)
        if len({end.node for end in of_subnet}) > 1:
            wires.append(Wire(prefix, of_subnet))
    joined_by = {frozenset(pair) for wire in wires for pair in _pairs(wire.ends)}
    every = [end for _, end in ends]
    alone = set[str]().union(*({frozenset(pair) for pair in _pairs(every)} - joined_by))
    apart = tuple(end for end in every if end.node in alone)
    if apart:
        wires.append(Wire(None, apart))
    pods = any(netns.role == NetnsRole.POD for netns in joined.namespaces.values())
    between = len({end.node for end in every}) > 1
    if pods and between and not _routes_pods(joined, {end.address for end in every}):
        wires.append(Wire(None, tuple(every), pods=True))
    return tuple(wires)


def _routes_pods(joined: Node, addresses: set[Address]) -> bool:
    """Tell whether a node has a route to a pod of another, by that node's address or a tunnel: then
    all of them need such routes. Elsewhere the network knows the pods (a cloud's route table).
    """
    hosts = [netns for netns in joined.namespaces.values() if netns.role == NetnsRole.HOST]
    for netns in hosts:
        for route in netns.routes.items:
            if route.type != "unicast" or not route.prefix.length:
                continue
            if not _leads_to_node(route, netns, addresses):
                continue
            if _covers_pod_beyond(joined, netns, route):
                return True
    return False


def _leads_to_node(route: Route, netns: Netns, addresses: set[Address]) -> bool:
    tunnels = {link.name for link in netns.links.items if link.kind in _WITHIN}
    return any(hop.gateway in addresses or hop.link in tunnels for hop in route.nexthops)


def _covers_pod_beyond(joined: Node, netns: Netns, route: Route) -> bool:
    for pod in joined.namespaces.values():
        if pod.role != NetnsRole.POD or pod.node == netns.node:
            continue
        own = [item.address for item in pod.addresses.items if item.scope == "global"]
        if any(map(route.prefix.covers, own)):
            return True
    return False


def _pairs(ends: Iterable[WireEnd]) -> Iterator[tuple[str, str]]:
    yield from combinations(sorted({end.node for end in ends}), 2)


def is_followed(node: Node) -> bool:
    """Tell whether packets that come in from a wire can be followed: what programs or a switch of
    a node do with them is only known of the model's own.
    """
    return node.cilium is None and not node.ovs


def _list_ends(netns: Netns, node: str) -> Iterator[tuple[InterfaceAddress, WireEnd]]:
    """Yield the devices by which a node is on networks, each with its first address there."""
    links = {link.name: link for link in netns.links.items}
    seen: set[tuple[str, Prefix]] = set()
    for item in netns.addresses.items:
        link = links.get(item.link)
        if link is None or item.scope != "global" or item.inferred or _is_alone(item):
            continue
        port = _outward(link, links)
        if port is not None and (port.name, item.prefix) not in seen:
            seen.add((port.name, item.prefix))
            yield item, WireEnd(node, netns.name, port.name, item.address, item.span)


def _is_alone(item: InterfaceAddress) -> bool:
    """Tell whether an address stands for itself: its prefix holds no other."""
    return item.length >= (32 if item.address.family == 4 else 128)


def _outward(link: Link, links: Mapping[IfName, Link]) -> Link | None:
    """Return the device by which frames of a device leave its node; None where they do not."""
    if link.kind == "bridge" or link.bridge is not None:
        ports = (port for port in links.values() if port.master == link.name)
        return next((port for port in ports if port.leaves_node), None)
    if link.kind in _WITHIN or isinstance(link.peer, Known) or link.name == "lo":
        return None
    return link
