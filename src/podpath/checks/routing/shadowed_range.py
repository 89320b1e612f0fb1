"""shadowed-range: a route on this node hides part of another node's pod range.

What it is
    Another node's pod range is routed to it through a tunnel. A more specific route sends part of
    that range to a device of this node instead.

Why it breaks
    The longest prefix wins: connections to pods in that part never leave the node. Nothing here
    answers ARP for them.

How to confirm
    ip route get ADDRESS                               # of a pod on the other node
    ip route show root RANGE

How to fix
    ip route del PREFIX dev DEV, and find out what added it (a leftover of an earlier plugin or
    range, an admin, a VPN client).

References
    fib_table_lookup (net/ipv4/fib_trie.c); ip-route(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.net.addresses import Prefix
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.node import Node
from podpath.node.routing import MAIN, Route

CATEGORIES = (Category.WRONG_ROUTE,)
NAME = "shadowed-range"
_TUNNELS = frozenset({"vxlan", "geneve", "ipip", "wireguard"})


def check(case: Case) -> Iterator[Finding]:
    """Report each on-link route within a range that a tunnel carries, unless an address of this
    node is within it.
    """
    tunnels = {link.name for link in case.node.host.links.items if link.kind in _TUNNELS}
    routes = [
        route
        for route in case.node.host.routes.items
        if route.table == MAIN and route.span is not None and route.nexthops
    ]
    carried: list[Route] = []
    local: list[Route] = []
    for route in routes:
        tunneled = [hop for hop in route.nexthops if hop.link in tunnels]
        if any(hop.gateway is not None for hop in tunneled) and route.prefix.length >= 8:
            carried.append(route)
        if _is_here(route) and not tunneled:
            local.append(route)
    for hidden in carried:
        for route in local:
            longer = route.prefix.length > hidden.prefix.length
            within = longer and hidden.prefix.covers(route.prefix.address)
            if within and not _has_address_in(case.node, route.prefix):
                yield _report(route, hidden)


def _is_here(route: Route) -> bool:
    """Tell whether a route ends on a device, without a next hop, where no address made it."""
    return (
        route.type == "unicast"
        and not route.inferred
        and all(hop.gateway is None for hop in route.nexthops)
    )


def _has_address_in(node: Node, prefix: Prefix) -> bool:
    """Tell whether the host or a pod behind it has an address of the range: the route is for that
    one then.
    """
    return any(
        prefix.covers(item.address)
        for netns in node.namespaces.values()
        for item in netns.addresses.items
    )


def _report(route: Route, hidden: Route) -> Finding:
    device, tunnel = route.nexthops[0].link, hidden.nexthops[0].link
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The route to {route.prefix} via {device} hides part of another node's "
            f"{hidden.prefix} via {tunnel}."
        ),
        evidence=list_spans((route, hidden)),
        reasoning=(f"The longer prefix wins, and no address of this node is in {route.prefix}.",),
        breaks=(f"every connection from this node and its pods to {route.prefix}",),
        repairs=(
            Repair(
                title="delete the route that hides the other node's range",
                commands=(f"ip route del {route.prefix} dev {device}",),
            ),
        ),
        marks=(str(route.prefix), str(device)),
    )
