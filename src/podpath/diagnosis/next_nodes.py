"""Packets that leave for another node, of which the evidence shows nothing: hosts that route each
other's pods (flannel's host-gw, Calico without a tunnel) hold a route by that node's address, and
what becomes of a packet there its own evidence alone tells.

Which router is a node the objects tell. Where no output lists the nodes, one is taken for a node
that nothing but routes to private networks leads to, where the host has pods or routes another
network of the length of its pods' own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from typing import NamedTuple

from podpath.datapath.reasons.routes import RoutedOn, RoutedOut
from podpath.datapath.tracing.trace import Conversation, Trace, Transmitted
from podpath.net.addresses import Address
from podpath.net.provenance import Basis, Inferred, Span
from podpath.node.case import Case
from podpath.node.node import Netns, NetnsRole


class _NextHop(NamedTuple):
    """Where a packet left for."""

    gateway: Address | None
    """None where the destination is on the wire itself."""
    destination: Address
    netns: str
    span: Span | None
    """The line of the route."""


class _OtherNodes(NamedTuple):
    """What the evidence says of the nodes of which it shows nothing else."""

    addresses: frozenset[str]
    """Of all nodes that objects list."""
    pods: frozenset[str]
    """Addresses of pods that are on no node of the model."""


def guess_next_nodes(case: Case, conversation: Conversation) -> tuple[Inferred, ...]:
    """Return what is taken for granted of the nodes that a connection's packets leave for, and of
    which there is no evidence.
    """
    hops = (hop for branch in conversation.branches for hop in _list_hops(branch.traces))
    left = list(dict.fromkeys(hops))
    known = _read_others(case) if left else _OtherNodes(frozenset(), frozenset())
    return tuple(dict.fromkeys(_guess(hop) for hop in left if _may_be_node(case, hop, known)))


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


def _read_others(case: Case) -> _OtherNodes:
    own = (pod for pod in case.node.pods if pod.netns is None and pod.address is not None)
    return _OtherNodes(
        frozenset(_list_node_addresses(case)), frozenset(str(pod.address) for pod in own)
    )


def _list_node_addresses(case: Case) -> Iterator[str]:
    for one in case.objects:
        if one.kind == "Node":
            yield from (
                item.text_at("address") for item in one.tree.items_at("status", "addresses")
            )


def _may_be_node(case: Case, hop: _NextHop, known: _OtherNodes) -> bool:
    """Tell whether a packet left for another node."""
    if str(hop.destination) in known.addresses | known.pods:
        return True
    if hop.gateway is None or not ip_address(str(hop.destination)).is_private:
        return False
    netns = case.node.namespaces[hop.netns]
    if netns.role != NetnsRole.HOST or _is_default_gateway(netns, hop.gateway):
        return False
    if known.addresses:
        return str(hop.gateway) in known.addresses
    return bool(case.node.pods) or _routes_like_pods(netns, hop)


def _is_default_gateway(netns: Netns, gateway: Address) -> bool:
    return any(
        next_hop.gateway == gateway
        for route in netns.routes.items
        if not route.prefix.length
        for next_hop in route.nexthops
    )


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
        if any(next_hop.gateway == hop.gateway for next_hop in route.nexthops)
    )


def _guess(hop: _NextHop) -> Inferred:
    holder = hop.gateway or hop.destination
    deed = "passes on" if hop.gateway is not None else "takes"
    return Inferred(
        Basis.GUESSED,
        f"{holder}, of which there is no evidence, {deed} what is sent to {hop.destination}",
        hop.span,
        f"podpath snapshot -o node.tar.gz, run on the node that has {holder}",
    )
