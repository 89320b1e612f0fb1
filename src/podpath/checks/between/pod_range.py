"""pod-range: a node's pods have addresses outside the range that the other nodes route to it.

What it is
    Kubernetes assigns each node a range (podCIDR), and plugins such as flannel, kubenet and host-gw
    route that range to the node. This node's pods have addresses from a different range: the
    plugin's configuration there (10-*.conflist, subnet.env) belongs to another cluster or was
    written by hand, or the node was given a new range after its pods started.

Why it breaks
    Packets to such a pod leave by another node's default route, or go to the node that owns the
    range. On its own node the pod is reachable, so half of everything works.

How to confirm
    kubectl get pods -A -o wide
    kubectl get nodes -o custom-columns=NAME:.metadata.name,PODS:.spec.podCIDR
    cat /etc/cni/net.d/*.conflist /run/flannel/subnet.env           # on the pod's node

How to fix
    Configure the plugin on that node with the node's podCIDR, delete its saved state
    (/var/lib/cni/networks), and delete the pods that have wrong addresses.

References
    kubernetes pkg/controller/nodeipam; flannel pkg/subnet; CNI host-local's documentation
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.node_ranges import (
    NodeRange,
    RangeRoute,
    addresses_of,
    follow_ranges,
    ranges_of,
)
from podpath.checks.objects import ObjectSightings, is_on_host_network, see
from podpath.net.addresses import Address, read_address
from podpath.net.trees import Tree
from podpath.node.case import Case
from podpath.node.routing import MAIN, Route

CATEGORIES = (Category.POD_CIDR, Category.ROUTE_DISTRIBUTION)
NAME = "pod-range"
_OVER = frozenset({"Succeeded", "Failed"})


def check(case: Case) -> Iterator[Finding]:
    """Report pods that this node has no route to, because its routes follow the nodes' ranges."""
    ranges = ranges_of(case)
    followed = follow_ranges(case, ranges)
    nodes = frozenset(chain.from_iterable(map(addresses_of, see(case, "Node"))))
    for pod in see(case, "Pod") if followed else ():
        place = pod.at("status", "podIP")
        address = read_address(place.text) if place is not None else None
        own = [one for one in ranges if one.node == pod.text_at("spec", "nodeName")]
        if place is None or address is None or not own or not _has_own_address(pod):
            continue
        if address in nodes:
            continue
        alike = [one for one in own if one.prefix.family == address.family]
        if alike and not any(one.prefix.covers(address) for one in alike):
            yield from _report(case, pod, place, (address, alike[0], followed))


def _has_own_address(pod: ObjectSightings) -> bool:
    over = pod.text_at("status", "phase") in _OVER
    return not is_on_host_network(pod) and not over


def _report(
    case: Case,
    pod: ObjectSightings,
    place: Tree,
    found: tuple[Address, NodeRange, tuple[RangeRoute, ...]],
) -> Iterator[Finding]:
    address, own, followed = found
    here = own.node == case.node.name
    special = _narrow_route(case, address)
    if special is not None and not here and not _leads_elsewhere(special, own, followed):
        return
    route = next((one.span for one in followed if one.of.node == own.node), followed[0].span)
    shown = is_on_host_network(pod) is False
    sure = shown and not here and case.node.host.routes.complete
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Pod {pod.title} has the address {address}, outside {own.prefix}, the range that the "
            f"nodes route to its node {own.node}."
        ),
        evidence=(place.line, own.span, route),
        reasoning=(
            (
                "Packets to it from other nodes do not take the route to its node; that would need "
                f"a route to {address} more specific than the default route."
            ),
        ),
        breaks=(f"connections from other nodes to {pod.title}",),
        prevention="Let the plugin read each node's podCIDR from the API, not from a file.",
        certainty=1.0 if sure else 0.6,
        marks=(str(address), str(own.prefix)),
        asks=(
            FollowUp(
                fact=f"which range the plugin on {own.node} assigns addresses from",
                command=f"cat /etc/cni/net.d/*.conflist /run/flannel/subnet.env    # on {own.node}",
                decides=f"a range other than {own.prefix}: this is the cause",
            )
            if shown
            else FollowUp(
                fact=f"whether {pod.title} is on its node's network",
                command="kubectl get pods -A -o yaml",
                decides=f"hostNetwork is not true: its address should be in {own.prefix}",
            ),
        ),
    )


def _narrow_route(case: Case, address: Address) -> Route | None:
    """Return the route of this node that holds the address and is no default route."""
    held = [
        route
        for route in case.node.host.routes.items
        if route.table == MAIN and route.prefix.length and route.prefix.covers(address)
    ]
    return max(held, key=lambda route: route.prefix.length, default=None)


def _leads_elsewhere(route: Route, own: NodeRange, followed: tuple[RangeRoute, ...]) -> bool:
    """Tell whether a route is that to the range of another node."""
    return any(one.route is route and one.of.node != own.node for one in followed)
