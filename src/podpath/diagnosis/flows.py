"""Connections that should work on any node, and the ones a repair must not touch: host to pod, pod to pod, service, outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from podpath.checks.topology import find_tables, known_rules
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath.node.node import HOST, Netns, Node

OUTSIDE = Address.parse("192.0.2.80")
"""An address of TEST-NET-1 (RFC 5737): no node has a route of its own to it."""
PODS, SERVICES = 3, 4
"""How many of each are tried: the paths differ by kind, not by number."""


def derive_flows(node: Node) -> tuple[Probe, ...]:
    """Give a few connections of each kind between the pods, services and addresses that the evidence shows."""
    pods = [(namespace, address) for namespace in _pods(node) if (address := _address(namespace)) is not None][:PODS]
    return tuple(dict.fromkeys((*_to_pods(node, pods), *_to_services(node, pods), *_to_outside(node, pods))))


def suggest_probes(node: Node, flows: Iterable[Probe]) -> tuple[Probe, ...]:
    """Return connections that somebody may mean, between ends that the evidence shows, for a question which of them fails."""
    shown = [probe._replace(netns=None) for probe in flows if probe.dst != OUTSIDE]
    clients = [pod.address for pod in node.pods if pod.address is not None and pod.address.family == 4]
    own = host_address(node)
    clients += [own] if own is not None else []
    servers = [(protocol, address, port) for protocol, address, port in _services(node)]
    servers += [(protocols.TCP, address, 80) for address in clients]
    shown += [
        Probe(protocol, client, address, dport=port)
        for client in clients[:PODS]
        for protocol, address, port in servers
        if client != address
    ]
    return tuple(dict.fromkeys(shown))[:PODS]


def _pods(node: Node) -> Iterator[Netns]:
    yield from (namespace for name, namespace in node.namespaces.items() if name != HOST and namespace.role == "pod")


def _address(namespace: Netns) -> Address | None:
    usable = (
        item.address
        for item in namespace.addresses.items
        if item.address.family == 4 and item.scope == "global" and not item.address.is_loopback
    )
    return next(usable, None)


def host_address(node: Node) -> Address | None:
    """Give the host's address on the device of its default route; its first global one where there is none."""
    routes = [route for route in node.host.routes.items if route.prefix.length == 0 and route.prefix.family == 4]
    uplinks = {hop.link for route in routes for hop in route.nexthops}
    own = [
        item for item in node.host.addresses.items
        if item.address.family == 4 and item.scope == "global" and not item.address.is_loopback
    ]  # fmt: skip
    best = sorted(own, key=lambda item: item.link not in uplinks)
    return best[0].address if best else None


def _to_pods(node: Node, pods: list[tuple[Netns, Address]]) -> Iterator[Probe]:
    source = host_address(node)
    for namespace, address in pods:
        port = _listening(namespace)
        if source is not None:
            yield Probe(protocols.TCP, source, address, dport=port, netns=HOST)
    for client, source_address in pods:
        for server, address in pods:
            if client is not server:
                yield Probe(protocols.TCP, source_address, address, dport=_listening(server), netns=client.name)


def _listening(namespace: Netns) -> int:
    ports = [socket.port for socket in namespace.sockets.items if socket.protocol == protocols.TCP and socket.state == "LISTEN"]
    return ports[0] if ports else 80


def _to_services(node: Node, pods: list[tuple[Netns, Address]]) -> Iterator[Probe]:
    for client, source in pods:
        for protocol, address, port in _services(node):
            yield Probe(protocol, source, address, dport=port, netns=client.name)


def _services(node: Node) -> list[tuple[int, Address, int]]:
    """Give services by their description, else by the rules that rewrite their addresses.

    Cilium translates services for pods itself, before those rules, from maps that only a description of the service shows.
    """
    described = [
        (port.protocol, address, port.port)
        for service in node.services for address in service.addresses for port in service.ports
        if port.endpoints and address.family == 4
    ]  # fmt: skip
    if described or node.cilium is not None:
        return described[:SERVICES]
    return _first_different(_services_by_rules(node))


def _services_by_rules(node: Node) -> Iterator[tuple[int, Address, int]]:
    """Give the addresses that a rule of table nat matches whole, with its port, before it jumps on."""
    for table in find_tables(node.host, "nat"):
        for rule in known_rules(table):
            destination = rule.dst
            jumps_on = rule.target is not None and rule.target.name in table.chains
            if destination is None or destination.negated or destination.prefix.length != 32 or not jumps_on:
                continue
            ports = [
                value for match in rule.matches for option in match.options if option.name == "dport" for value in option.values
            ]
            if rule.protocol is not None and len(ports) == 1 and ports[0].isdecimal():
                yield rule.protocol.number, destination.prefix.address, int(ports[0])


def _first_different(services: Iterator[tuple[int, Address, int]]) -> list[tuple[int, Address, int]]:
    """Give the first few services without looking at the rest of a long ruleset; kube-proxy names each in two rules."""
    return list(dict.fromkeys(islice(services, 2 * SERVICES)))[:SERVICES]


def _to_outside(node: Node, pods: list[tuple[Netns, Address]]) -> Iterator[Probe]:
    if any(route.prefix.length == 0 and route.prefix.family == 4 for route in node.host.routes.items):
        for namespace, address in pods[:1]:
            yield Probe(protocols.TCP, address, OUTSIDE, dport=443, netns=namespace.name)
