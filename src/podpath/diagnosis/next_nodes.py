"""Packets that leave for another node, of which the evidence shows nothing: hosts that route each
other's pods (flannel's host-gw, Calico without a tunnel) hold a route by that node's address, and
what becomes of a packet there its own evidence alone tells.

Which router is a node the objects tell. Where no output lists the nodes, one is taken for a node
that nothing but routes to private networks leads to, where the host has pods or routes another
network of the length of its pods' own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from podpath.checks.objects import read_prefix
from podpath.datapath.reasons.routes import RoutedOn, RoutedOut
from podpath.datapath.tracing.trace import Conversation, Trace, Transmitted
from podpath.net.addresses import Address, Prefix
from podpath.net.provenance import Basis, Inferred, Span
from podpath.node.case import Case
from podpath.node.node import Netns, NetnsRole, Node
from podpath.node.routing import Route

_PRIVATE = tuple(
    Prefix.parse(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
"""What pods have addresses of (RFC 1918, RFC 6598, RFC 4193)."""


_CLUSTER = 16
"""The length of a prefix that one cluster has to itself where no host of it is inside."""
_LIST = "kubectl get pods,services,endpoints -A -o wide"
_CARDS = frozenset({"", "bond", "team", "vlan"})
"""Kinds of devices that lead to other hosts."""
_NUMBERS = frozenset({"InternalIP", "ExternalIP"})
"""Kinds of a node's addresses that are no names."""


class _NextHop(NamedTuple):
    """Where a packet left for."""

    gateway: Address | None
    """None where the destination is on the wire itself."""
    destination: Address
    netns: str
    span: Span | None
    """The line of the route."""


def guess_next_nodes(case: Case, conversation: Conversation) -> tuple[Inferred, ...]:
    """Return what is taken for granted of the nodes that a connection's packets leave for, and of
    which there is no evidence.
    """
    left = [hop for branch in conversation.branches for hop in _list_hops(branch.traces)]
    nodes = frozenset(_list_node_addresses(case)) if left else frozenset()
    found: dict[Inferred, None] = {}
    for hop in left:
        if _may_be_node(case, hop, nodes) or _is_held(case, hop, nodes):
            found[_guess(hop)] = None
        elif (network := _find_own_network(case, hop)) is not None:
            found[_guess_unknown(hop, network)] = None
    return tuple(found)


def _list_hops(traces: Iterable[Trace]) -> Iterator[_NextHop]:
    """Yield where packets left the model."""
    for trace in traces:
        outcome = trace.outcome
        if not isinstance(outcome, Transmitted) or outcome.tunnel is not None:
            continue
        for step in reversed(trace.steps):
            routed = step.reason
            if step.netns == outcome.netns and isinstance(routed, RoutedOn | RoutedOut):
                span = step.spans[0] if step.spans else None
                yield _NextHop(routed.gateway, outcome.packet.dst, step.netns, span)
                break


def _list_node_addresses(case: Case) -> Iterator[Address]:
    for one in case.objects:
        listed = one.tree.items_at("status", "addresses") if one.kind == "Node" else ()
        for item in listed:
            if item.text_at("type") in _NUMBERS:
                with suppress(ValueError):
                    yield Address.parse(item.text_at("address"))


def _is_held(case: Case, hop: _NextHop, nodes: Iterable[Address]) -> bool:
    """Tell whether a packet left for what the objects know to be a node's or a pod's, or for a
    node's range of pods. Addresses are compared one by one: whoever shares walks hears of each what
    it is not.
    """
    if any(prefix.covers(hop.destination) for prefix in _list_pod_ranges(case)):
        return True
    pods = (pod.address for pod in case.node.pods if pod.netns is None)
    return any(one == hop.destination for one in (*nodes, *pods))


def _list_pod_ranges(case: Case) -> Iterator[Prefix]:
    for one in case.objects:
        spec = one.tree.at("spec") if one.kind == "Node" else None
        if spec is not None:
            listed = {spec.text_at("podCIDR"), *(item.text for item in spec.items_at("podCIDRs"))}
            read = (read_prefix(text) for text in sorted(listed))
            yield from (prefix for prefix in read if prefix is not None)


def _find_own_network(case: Case, hop: _NextHop) -> Prefix | None:
    """Return the network of the cluster's pods or services that a packet left for by a router; None
    where it left for no such. A cluster has ranges of /16 and more for both (--cluster-cidr,
    --service-cluster-ip-range), and a network in which no node is holds nobody else.
    """
    own = [pod.address for pod in case.node.pods]
    own += [address for service in case.node.services for address in service.addresses]
    networks = {Prefix.of(one, _CLUSTER) for one in own if one is not None and one.family == 4}
    hosts = (case.node, *case.node.beside.values())
    held = [address for node in hosts for address in _list_uplink_addresses(node)]
    apart = (one for one in networks if not any(map(one.covers, held)))
    return next((one for one in apart if one.covers(hop.destination)), None)


def _list_uplink_addresses(node: Node) -> Iterator[Address]:
    """Yield the addresses by which a node is among other hosts: not those of its pods' bridge, of
    tunnels and of what stands for services.
    """
    links = node.host.links.items
    bridging = {link.master for link in links if link.master is not None and link.leaves_node}
    outward = {link.name for link in links if link.kind in _CARDS or link.outward} | bridging
    for item in node.host.addresses.items:
        if item.link in outward and item.scope == "global":
            yield item.address


def _may_be_node(case: Case, hop: _NextHop, nodes: frozenset[Address]) -> bool:
    """Tell whether a packet left for a router that may be another node."""
    if hop.gateway is None:
        return False
    netns = case.node.namespaces[hop.netns]
    if netns.role != NetnsRole.HOST or _is_default_gateway(netns, hop.gateway):
        return False
    if nodes:
        return hop.gateway in nodes
    is_private = any(prefix.covers(hop.destination) for prefix in _PRIVATE)
    return is_private and (bool(case.node.pods) or _routes_like_pods(netns, hop))


def _is_default_gateway(netns: Netns, gateway: Address) -> bool:
    routes = (route for route in netns.routes.items if not route.prefix.length)
    return any(_leads_by(route, gateway) for route in routes)


def _routes_like_pods(netns: Netns, hop: _NextHop) -> bool:
    """Tell whether the network that a packet left for is as long as one behind a bridge of the
    host's own, or as one that it blackholes but for single addresses: nodes have ranges of one
    length.
    """
    bridges = {link.name for link in netns.links.items if link.kind == "bridge"}
    own = {item.length for item in netns.addresses.items if item.link in bridges}
    own |= {route.prefix.length for route in netns.routes.items if route.type == "blackhole"}
    return any(
        route.prefix.length in own and route.prefix.covers(hop.destination)
        for route in netns.routes.items
        if _leads_by(route, hop.gateway)
    )


def _leads_by(route: Route, gateway: Address | None) -> bool:
    return any(next_hop.gateway == gateway for next_hop in route.nexthops)


def _guess(hop: _NextHop) -> Inferred:
    holder = hop.gateway or hop.destination
    deed = "passes on" if hop.gateway is not None else "takes"
    return Inferred(
        Basis.GUESSED,
        f"{holder}, of which there is no evidence, {deed} what it is sent",
        hop.span,
        f"podpath snapshot -o node.tar.gz, run on the node that has {holder}",
    )


def _guess_unknown(hop: _NextHop, network: Prefix) -> Inferred:
    why = (
        f"somebody behind the router has an address of {network}, where the cluster's pods or "
        "services are, that none of them is shown to have"
    )
    return Inferred(Basis.GUESSED, why, hop.span, _LIST)
