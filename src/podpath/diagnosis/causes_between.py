"""What a walk over several nodes shows to be wrong between them: the step on one node that made the
packet fail on the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from podpath.checks.between import (
    address_on_two_nodes,
    mtu_shrinks,
    pod_ranges_overlap,
    pod_route,
    tunnel_end,
    tunnel_mac,
    tunnel_network,
)
from podpath.checks.cause import Cause
from podpath.checks.netfilter import missing_masquerade
from podpath.checks.tunnels import vtep_mac_twice
from podpath.datapath.reasons.devices import (
    FrameForOther,
    KeyUnknown,
    NoEndpointOf,
    NoPeerFor,
    OwnFrameReturned,
    PresharedAlone,
    SourceNotAllowed,
    TooLongForEnd,
    TunnelFromOther,
    TunnelPortClosed,
    VniUnknown,
)
from podpath.datapath.reasons.failures import LeftForPodOf, OuterDelivered
from podpath.datapath.reasons.neighbours import ArpRefused
from podpath.datapath.reasons.routes import (
    OwnSource,
    RoutedOn,
    RoutedOut,
    RouteRefuses,
    SourceOfType,
)
from podpath.datapath.tracing.trace import Branch, Step, Trace
from podpath.datapath.vocabulary import StageName, StepDecision
from podpath.net.addresses import WIDTH, Address
from podpath.net.provenance import list_spans
from podpath.node.links import InterfaceAddress
from podpath.node.node import Netns, NetnsRole, Node
from podpath.node.routing import MAIN, Route

_DISAGREEING = (
    KeyUnknown,
    NoEndpointOf,
    NoPeerFor,
    PresharedAlone,
    SourceNotAllowed,
    TunnelFromOther,
    TunnelPortClosed,
    VniUnknown,
)
"""What is said of the two ends of a tunnel that do not go together."""
_ROUTED = (StageName.ROUTE_INPUT, StageName.ROUTE_OUTPUT)


def find_between(node: Node, branch: Branch, trace: Trace) -> Cause | None:
    """Name what one node holds of the other that ended the connection; None where it is nothing of
    the kind.
    """
    marked = missing_masquerade.find_marked(node, branch)
    if marked is not None:
        return Cause(check=missing_masquerade.NAME, branch=branch, trace=trace, step=marked.step)
    found = _find_overlapping(node, trace) or _find(node, branch, trace)
    if found is None:
        return None
    check, step = found
    return Cause(check=check, branch=branch, trace=trace, step=step)


def _find(node: Node, branch: Branch, trace: Trace) -> tuple[str, Step] | None:
    last = trace.deciding
    wrapped = _last(trace, StepDecision.ENCAPSULATE)
    if isinstance(branch.failure, LeftForPodOf):
        if wrapped is not None and _is_last_hop(trace, wrapped):
            return tunnel_end.NAME, wrapped
        routed = _routed_out(node, trace)
        return (pod_route.NAME, routed) if routed is not None else None
    if isinstance(last.reason, TooLongForEnd):
        return mtu_shrinks.NAME, last
    if isinstance(last.reason, _DISAGREEING):
        return tunnel_network.NAME, last
    if isinstance(last.reason, OwnFrameReturned) and wrapped and wrapped.netns != last.netns:
        return vtep_mac_twice.NAME, last
    if isinstance(branch.failure, OuterDelivered) and wrapped is not None:
        return tunnel_network.NAME, wrapped
    twice = _held_twice(node, last)
    if twice is not None:
        return address_on_two_nodes.NAME, twice
    if last.stage is StageName.NEIGHBOUR and last.decision in _ENDED:
        return _led_nowhere(node, trace, wrapped)
    if isinstance(last.reason, FrameForOther) and _is_unwrapped(trace):
        resolved = _before(trace, wrapped, StepDecision.RESOLVE)
        return (tunnel_mac.NAME, resolved) if resolved is not None else None
    return None


_ENDED = frozenset({StepDecision.DROP, StepDecision.REJECT})


def _find_overlapping(node: Node, trace: Trace) -> tuple[str, Step] | None:
    """Name the two ranges by which a node keeps a packet for a pod of another among its own pods;
    None where one of them is no range of pods alone.
    """
    last = trace.deciding
    here = node.namespaces.get(last.netns)
    ended = last.stage is StageName.NEIGHBOUR and last.decision in _ENDED
    if here is None or not (ended or isinstance(last.reason, RouteRefuses)):
        return None
    address = last.before.dst
    pods = (netns for netns in node.namespaces.values() if netns.role == NetnsRole.POD)
    there = next((netns for netns in pods if netns.holds(address)), None)
    if there is None or there.node == here.node:
        return None
    home, other = _host_of(node, here), _host_of(node, there)
    if home is None or other is None:
        return None
    ranges = _range_of_pods(home, address), _range_of_pods(other, address)
    spans = list_spans(route for route in ranges if route is not None)
    if len(spans) < len(ranges):
        return None
    return pod_ranges_overlap.NAME, last._replace(netns=home.name, spans=spans)


def _host_of(node: Node, netns: Netns) -> Netns | None:
    return next(
        (
            each
            for each in node.namespaces.values()
            if each.role == NetnsRole.HOST and each.node == netns.node
        ),
        None,
    )


def _range_of_pods(host: Netns, address: Address) -> Route | None:
    """Return the route by which a host keeps a range of addresses for its own pods: to a bridge
    that has none but pods, or refusing what no pod has.
    """
    return next(
        (
            route
            for route in host.routes.items
            if route.table == MAIN
            and 0 < route.prefix.length < WIDTH[address.family]
            and route.prefix.covers(address)
            and (_refuses(route) or _is_bridge_of_pods(host, route))
        ),
        None,
    )


def _refuses(route: Route) -> bool:
    return route.type in {"blackhole", "unreachable", "prohibit"}


def _is_bridge_of_pods(host: Netns, route: Route) -> bool:
    if any(hop.gateway is not None for hop in route.nexthops):
        return False
    names = {hop.link for hop in route.nexthops}
    ports = [link for link in host.links.items if link.master in names]
    return bool(ports) and all(port.kind == "veth" for port in ports)


def _held_twice(node: Node, last: Step) -> Step | None:
    """Return the deciding step with the lines of an address that two nodes have, where a node
    refuses packets from one of its own; of the two, the one that has it beside another is wrong.
    """
    reason = last.reason
    refusal = reason.refusal if isinstance(reason, ArpRefused) else reason
    if not isinstance(refusal, OwnSource | SourceOfType):
        return None
    holders = list(_list_holders(node, {last.before.src, *_own_addresses(node, last.netns)}))
    held = Counter(item.address for _, item in holders)
    for name, wrong in holders:
        if wrong.secondary and held[wrong.address] > 1:
            if wrong.span is None:
                return None
            same = [item for _, item in holders if item.address == wrong.address]
            return last._replace(netns=name, spans=tuple(dict.fromkeys(list_spans((wrong, *same)))))
    return None


def _list_holders(
    node: Node, addresses: Collection[Address]
) -> Iterator[tuple[str, InterfaceAddress]]:
    """Yield the global addresses of nodes that are among some, each with its node's name."""
    for netns in node.namespaces.values():
        if netns.role == NetnsRole.HOST:
            for item in netns.addresses.items:
                if item.address in addresses and item.scope == "global":
                    yield netns.name, item


def _own_addresses(node: Node, netns: str) -> frozenset[Address]:
    found = node.namespaces.get(netns)
    items = found.addresses.items if found is not None else ()
    return frozenset(item.address for item in items)


def _led_nowhere(node: Node, trace: Trace, wrapped: Step | None) -> tuple[str, Step] | None:
    """Name what sent a packet for a pod of another node to a next hop that nobody is."""
    inner = wrapped.before if wrapped is not None else trace.deciding.before
    here = node.namespaces.get(trace.deciding.netns)
    if here is None or here.role != NetnsRole.HOST or _is_on(node, here, inner.dst):
        return None
    if wrapped is not None and _is_last_hop(trace, wrapped):
        known = any(
            item.address == trace.deciding.before.dst
            for netns in node.namespaces.values()
            for item in netns.addresses.items
        )
        return None if known else (tunnel_end.NAME, wrapped)
    routed = _routed_out(node, trace)
    if routed is None or not isinstance(routed.reason, RoutedOn | RoutedOut):
        return None
    return (pod_route.NAME, routed) if routed.reason.gateway is not None else None


def _is_on(node: Node, here: Netns, address: Address) -> bool:
    """Tell whether an address is of no pod of another node."""
    pods = (netns for netns in node.namespaces.values() if netns.role == NetnsRole.POD)
    return not any(
        item.address == address
        for netns in pods
        if netns.node != here.node
        for item in netns.addresses.items
    )


def _last(trace: Trace, decision: StepDecision) -> Step | None:
    return next((step for step in reversed(trace.steps) if step.decision is decision), None)


def _is_last_hop(trace: Trace, wrapped: Step) -> bool:
    """Tell whether the packet was still in that tunnel when it left."""
    after = trace.steps[trace.steps.index(wrapped) :]
    return all(step.decision is not StepDecision.DECAPSULATE for step in after)


def _is_unwrapped(trace: Trace) -> bool:
    """Tell whether the frame that was refused came out of a tunnel just before."""
    earlier = [step.decision for step in trace.steps[-4:]]
    return StepDecision.DECAPSULATE in earlier


def _before(trace: Trace, last: Step | None, decision: StepDecision) -> Step | None:
    """Return the step of that decision which is nearest before another."""
    if last is None:
        return None
    earlier = trace.steps[: trace.steps.index(last)]
    return next((step for step in reversed(earlier) if step.decision is decision), None)


def _routed_out(node: Node, trace: Trace) -> Step | None:
    """Return the step by which a host routed a packet out of the cluster."""
    return next(
        (
            step
            for step in reversed(trace.steps)
            if step.stage in _ROUTED
            and step.netns in node.namespaces
            and node.namespaces[step.netns].role == NetnsRole.HOST
        ),
        None,
    )
