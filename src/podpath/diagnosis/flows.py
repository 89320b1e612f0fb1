"""Connections that any node should carry, found in what it shows: between its pods and itself, to
services, nodes and the world.

Their number is bounded, since the paths differ by kind and not by number: a few pods, as far apart
as the listing has them, and a few services, the cluster's DNS and API first. They are asked about
where nobody names a connection, and a repair must not break them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import islice
from typing import NamedTuple

from podpath.checks.topology import find_tables, known_rules, option_values
from podpath.net import protocols
from podpath.net.addresses import Address, IfName
from podpath.net.probe import Probe
from podpath.node.netfilter import Rule
from podpath.node.node import HOST, Netns, NetnsRole, Node, may_have

OUTSIDE = Address.parse("192.0.2.80")
"""An address of TEST-NET-1 (RFC 5737): no node has a route of its own to it."""
PODS, SERVICES, OTHER_NODES, OPEN_PORTS = 3, 4, 2, 3
"""How many of each are tried: the paths differ by kind, not by number."""
RULES = 50_000
"""Rules of table nat in which services are looked for."""
DNS_PORT = 53
TUNNELS = frozenset({"vxlan", "geneve", "ipip", "sit", "wireguard", "gre"})


class BaselineKind(Enum):
    """Who should reach whom on any node."""

    NODE_TO_POD = "node to pod, as the kubelet probes it"
    POD_TO_POD = "pod to pod"
    TO_OTHER_NODE = "pod to another node's pods"
    DNS = "pod to DNS"
    API = "pod to the API server"
    TO_SERVICE = "pod to service"
    TO_WORLD = "pod to the world"
    OPEN_PORT = "outside to hostPort or NodePort"


class BaselineFlow(NamedTuple):
    """A connection that any node should carry."""

    kind: BaselineKind
    probe: Probe


class _Service(NamedTuple):
    protocol: int
    address: Address
    port: int
    kind: BaselineKind = BaselineKind.TO_SERVICE


_Pods = Sequence[tuple[Netns, Address]]


def derive_flows(node: Node) -> tuple[Probe, ...]:
    """Return a few connections of each kind between the pods, services and addresses that the
    evidence shows.
    """
    return tuple(dict.fromkeys(flow.probe for flow in list_flows(node)))


def list_flows(node: Node) -> tuple[BaselineFlow, ...]:
    """Return the same with the kind of each."""
    pods = _spread(
        [
            (namespace, address)
            for namespace in _pods(node)
            if (address := _address(namespace)) is not None
        ]
    )
    return (
        *_to_pods(node, pods),
        *_to_services(node, pods),
        *_to_other_nodes(node, pods),
        *_to_outside(node, pods),
        *_to_open_ports(node),
    )


def _spread(pods: _Pods) -> _Pods:
    """Return a few pods, as far apart in the listing as they stand."""
    if len(pods) <= PODS:
        return pods
    return [pods[place * (len(pods) - 1) // (PODS - 1)] for place in range(PODS)]


def suggest_probes(node: Node, flows: Iterable[Probe]) -> tuple[Probe, ...]:
    """Return connections that somebody may mean, between ends that the evidence shows, for a
    question which of them fails.
    """
    shown = [probe._replace(netns=None) for probe in flows if probe.dst != OUTSIDE]
    clients = [
        pod.address for pod in node.pods if pod.address is not None and pod.address.family == 4
    ]
    own = host_address(node)
    clients += [own] if own is not None else []
    servers = [(service.protocol, service.address, service.port) for service in _services(node)]
    servers += [(protocols.TCP, address, 80) for address in clients]
    shown += [
        Probe(protocol, client, address, dport=port)
        for client in clients[:PODS]
        for protocol, address, port in servers
        if client != address
    ]
    return tuple(dict.fromkeys(shown))[:PODS]


def _pods(node: Node) -> Iterator[Netns]:
    yield from (
        namespace
        for name, namespace in node.namespaces.items()
        if name != HOST and namespace.role == NetnsRole.POD
    )


def _address(namespace: Netns) -> Address | None:
    usable = (
        item.address
        for item in namespace.addresses.items
        if item.address.family == 4 and item.scope == "global" and not item.address.is_loopback
    )
    return next(usable, None)


def host_address(node: Node) -> Address | None:
    """Return the host's address on the device of its default route; its first global one where
    there is none.
    """
    leaving = uplinks(node)
    own = [
        item
        for item in node.host.addresses.items
        if item.address.family == 4 and item.scope == "global" and not item.address.is_loopback
    ]
    best = sorted(own, key=lambda item: item.link not in leaving)
    return best[0].address if best else None


def uplinks(node: Node) -> frozenset[IfName | None]:
    """Return the devices of the host's default routes."""
    routes = [
        route
        for route in node.host.routes.items
        if route.prefix.length == 0 and route.prefix.family == 4
    ]
    return frozenset(hop.link for route in routes for hop in route.nexthops)


def _to_pods(node: Node, pods: _Pods) -> Iterator[BaselineFlow]:
    source = host_address(node)
    for namespace, address in pods:
        port = _listening(namespace)
        if source is not None:
            yield BaselineFlow(
                BaselineKind.NODE_TO_POD,
                Probe(protocols.TCP, source, address, dport=port, netns=HOST),
            )
    for client, source_address in pods:
        for server, address in pods:
            if client is not server:
                probe = Probe(
                    protocols.TCP,
                    source_address,
                    address,
                    dport=_listening(server),
                    netns=client.name,
                )
                yield BaselineFlow(BaselineKind.POD_TO_POD, probe)


def _listening(namespace: Netns) -> int:
    ports = [
        socket.port
        for socket in namespace.sockets.items
        if socket.protocol == protocols.TCP and socket.state == "LISTEN"
    ]
    return ports[0] if ports else 80


def _to_services(node: Node, pods: _Pods) -> Iterator[BaselineFlow]:
    services = _services(node)
    for client, source in pods:
        for service in services:
            yield BaselineFlow(
                service.kind,
                Probe(
                    service.protocol, source, service.address, dport=service.port, netns=client.name
                ),
            )


def _services(node: Node) -> list[_Service]:
    """Return services by their description, else by the rules that rewrite their addresses; DNS and
    the API first.

    Cilium translates services for pods itself, before those rules, from maps that only a
    description of the service shows.
    """
    described = [
        _Service(
            port.protocol,
            address,
            port.port,
            _kind_of(port.port, f"{service.namespace}/{service.name}"),
        )
        for service in node.services
        for address in service.addresses
        for port in service.ports
        if port.endpoints and address.family == 4
    ]
    found = described if described or node.cilium is not None else list(_services_by_rules(node))
    order = {BaselineKind.DNS: 0, BaselineKind.API: 1}
    best = sorted(dict.fromkeys(found), key=lambda service: order.get(service.kind, 2))[:SERVICES]
    return (
        best
        if described or node.cilium is not None
        else [*best, *list(_refused_by_rules(node))[:1]]
    )


def _kind_of(port: int, name: str) -> BaselineKind:
    if port == DNS_PORT:
        return BaselineKind.DNS
    return BaselineKind.API if name.startswith("default/kubernetes") else BaselineKind.TO_SERVICE


def _services_by_rules(node: Node) -> Iterator[_Service]:
    """Yield the addresses that a rule of table nat matches whole, with its port, before it jumps
    on.
    """
    for table in find_tables(node.host, "nat"):
        for rule in islice(known_rules(table), RULES):
            destination = rule.dst
            jumps_on = rule.target is not None and rule.target.name in table.chains
            if (
                destination is None
                or destination.negated
                or destination.prefix.length != 32
                or not jumps_on
            ):
                continue
            port = _port_of(rule)
            if rule.protocol is not None and port is not None:
                name = next(iter(option_values(rule, "comment", "comment")), "")
                yield _Service(
                    rule.protocol.number, destination.prefix.address, port, _kind_of(port, name)
                )


def _refused_by_rules(node: Node) -> Iterator[_Service]:
    """Yield the services that kube-proxy refuses for want of endpoints."""
    for table in find_tables(node.host, "filter"):
        for rule in islice(known_rules(table), RULES):
            refuses = rule.target is not None and rule.target.name in {"REJECT", "DROP"}
            comment = " ".join(option_values(rule, "comment", "comment"))
            port = _port_of(rule)
            if (
                refuses
                and port is not None
                and rule.dst is not None
                and rule.protocol is not None
                and "no endpoints" in comment
            ):
                yield _Service(rule.protocol.number, rule.dst.prefix.address, port)


def _port_of(rule: Rule) -> int | None:
    """Return the one port that a rule is for; None where it is for any, for several or for a
    range.
    """
    ports = [*_values(rule, "dport"), *_values(rule, "dports")]
    return int(ports[0]) if len(ports) == 1 and ports[0].isdecimal() else None


def _values(rule: Rule, option: str) -> Iterator[str]:
    for match in rule.matches:
        yield from option_values(rule, match.name, option)


def _to_other_nodes(node: Node, pods: _Pods) -> Iterator[BaselineFlow]:
    """Yield connections to the pods of other nodes: ranges that the host routes into a tunnel, or
    to a node beside it.

    The address stands for any pod of the range; where its node is, is all that the walk asks.
    """
    tunnels = {link.name for link in node.host.links.items if link.kind in TUNNELS}
    ranges = [
        route.prefix
        for route in node.host.routes.items
        if route.prefix.family == 4 and 8 <= route.prefix.length <= 30
        for hop in route.nexthops
        if hop.link in tunnels and hop.gateway is not None
    ]
    for namespace, address in pods[:1]:
        for prefix in list(dict.fromkeys(ranges))[:OTHER_NODES]:
            target = Address(4, prefix.address.value + 2)
            yield BaselineFlow(
                BaselineKind.TO_OTHER_NODE,
                Probe(protocols.TCP, address, target, dport=80, netns=namespace.name),
            )


def _to_outside(node: Node, pods: _Pods) -> Iterator[BaselineFlow]:
    if any(
        route.prefix.length == 0 and route.prefix.family == 4 for route in node.host.routes.items
    ):
        for namespace, address in pods:
            yield BaselineFlow(
                BaselineKind.TO_WORLD,
                Probe(protocols.TCP, address, OUTSIDE, dport=443, netns=namespace.name),
            )


def _to_open_ports(node: Node) -> Iterator[BaselineFlow]:
    """Yield connections from the router to ports of the node that rules rewrite to a pod: hostPorts
    and NodePorts.
    """
    own = host_address(node)
    hops = [
        hop
        for route in node.host.routes.items
        if route.prefix.length == 0 and route.prefix.family == 4
        for hop in route.nexthops
        if hop.gateway is not None and hop.link is not None and may_have(node, hop.link)
    ]
    if own is None or not hops or hops[0].gateway is None:
        return
    for protocol, port in list(dict.fromkeys(_open_ports(node)))[:OPEN_PORTS]:
        yield BaselineFlow(
            BaselineKind.OPEN_PORT,
            Probe(protocol, hops[0].gateway, own, dport=port, in_dev=hops[0].link),
        )


_OPENING = re.compile(
    r"KUBE-NODEPORTS|CNI-HOSTPORT-DNAT|CNI-DN-\w+|KUBE-HOSTPORTS|KUBE-HP-\w+|HOSTPORTS"
)
"""Chains in which kube-proxy and the portmap plugin rewrite what comes to a port of the node."""


def _open_ports(node: Node) -> Iterator[tuple[int, int]]:
    for table in find_tables(node.host, "nat"):
        for rule in islice(known_rules(table), RULES):
            if (
                _OPENING.fullmatch(rule.chain)
                and rule.protocol is not None
                and rule.target is not None
            ):
                port = _port_of(rule)
                if (
                    port is not None
                    and "MARK" not in rule.target.name
                    and "SETMARK" not in rule.target.name
                ):
                    yield rule.protocol.number, port
