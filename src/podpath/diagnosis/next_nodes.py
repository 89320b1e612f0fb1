"""Packets that leave for a router which is, or may be, another node: hosts that route each other's
pods (flannel's host-gw, Calico without a tunnel) hold a route by that node's address, and what that
node does with them its evidence alone tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from typing import NamedTuple

from podpath.datapath.reasons.routes import RoutedOn, RoutedOut
from podpath.datapath.tracing.trace import Conversation, Trace, Transmitted
from podpath.diagnosis.forbids import RestsOnInference
from podpath.net.addresses import Address
from podpath.net.provenance import Basis, Inferred, Span
from podpath.node.case import Case


class _NextHop(NamedTuple):
    """Where a packet left for."""

    gateway: Address
    destination: Address
    netns: str
    span: Span | None
    """The line of the route."""


def forbid_next_nodes(
    case: Case, conversations: Iterable[Conversation]
) -> Iterator[RestsOnInference]:
    """Yield each connection that is taken to work because a router passes its packets on that is a
    node by the objects, or may be one where no output lists the nodes.
    """
    known = frozenset(_list_node_addresses(case))
    for conversation in conversations:
        hops = (hop for branch in conversation.branches for hop in _list_hops(branch.traces))
        guesses = [_guess(hop) for hop in hops if _may_be_node(case, hop, known)]
        if guesses:
            yield RestsOnInference(probe=conversation.probe, guesses=tuple(dict.fromkeys(guesses)))


def _list_hops(traces: Iterable[Trace]) -> Iterator[_NextHop]:
    """Yield the routers by which packets left the model."""
    for trace in traces:
        outcome = trace.outcome
        if not isinstance(outcome, Transmitted) or outcome.tunnel is not None:
            continue
        for step in reversed(trace.steps):
            routed = step.reason
            if step.netns == outcome.netns and isinstance(routed, RoutedOn | RoutedOut):
                if routed.gateway is not None:
                    span = step.spans[0] if step.spans else None
                    yield _NextHop(routed.gateway, outcome.packet.dst, step.netns, span)
                break


def _may_be_node(case: Case, hop: _NextHop, known: frozenset[str]) -> bool:
    """Tell whether a router may be another node: nothing but routes to some private networks leads
    to it.
    """
    routes = case.node.namespaces[hop.netns].routes.items
    by_default = any(
        next_hop.gateway == hop.gateway
        for route in routes
        if not route.prefix.length
        for next_hop in route.nexthops
    )
    if by_default or not ip_address(str(hop.destination)).is_private:
        return False
    return str(hop.gateway) in known if known else True


def _list_node_addresses(case: Case) -> Iterator[str]:
    for one in case.objects:
        if one.kind == "Node":
            yield from (
                item.text_at("address") for item in one.tree.items_at("status", "addresses")
            )


def _guess(hop: _NextHop) -> Inferred:
    return Inferred(
        Basis.GUESSED,
        f"{hop.gateway}, of which there is no evidence, passes on what is sent to "
        f"{hop.destination}",
        hop.span,
        f"podpath snapshot -o node.tar.gz, run on the node that has {hop.gateway}",
    )
