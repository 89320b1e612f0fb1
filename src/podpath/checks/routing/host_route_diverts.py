"""host-route-diverts: a route to a single address diverts it from its network's route.

What it is
    The routing table holds a route to a single address (/32, /128) through a gateway or a device
    other than that of the address's network in the same table.

Why it breaks
    The longest prefix wins. Such a route is often left behind by a node, pod or VPN server that
    had the address before: packets go to a machine that no longer knows it.

How to confirm
    ip route get ADDRESS
    ip route show to match ADDRESS

How to fix
    Find out what sets the route (proto in `ip -d route`), then delete it: ip route del ADDRESS.

References
    fib_table_lookup (net/ipv4/fib_trie.c v6.12); ip-route(8)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import spans_of
from podpath.checks.told import list_failing_addresses
from podpath.node.case import Case
from podpath.node.routing import Route

CATEGORIES = (Category.WRONG_ROUTE, Category.ROUTE_DISTRIBUTION)
NAME = "host-route-diverts"
WIDTH = {4: 32, 6: 128}
_SPOKEN = frozenset({"bird", "bgp", "ospf", "isis", "zebra", "rip", "babel", "eigrp"})
"""Routing programs: they announce single addresses, and take them back, as Calico does with an
address that a node borrows from the block of another.
"""
POSSIBLE = 0.5
"""Host routes are also how some plugins reach their pods: who set it has to be looked up."""


def check(case: Case) -> Iterator[Finding]:
    """Report each route to a failing address that leaves its network's way."""
    failing = list_failing_addresses(case)
    for namespace in case.node.namespaces.values():
        stated = [route for route in namespace.routes.items if _is_stated(route)]
        for route in stated:
            if not _is_of_host(route) or route.prefix.address not in failing:
                continue
            around = _find_around(route, stated)
            if around is not None and _leads_elsewhere(route, around):
                yield _report(route, around)


def _is_stated(route: Route) -> bool:
    return (
        route.inferred is None
        and route.span is not None
        and route.type == "unicast"
        and len(route.nexthops) == 1
        and route.protocol not in _SPOKEN
    )


def _is_of_host(route: Route) -> bool:
    return route.prefix.length == WIDTH[route.prefix.family]


def _find_around(route: Route, stated: Sequence[Route]) -> Route | None:
    """Return the network's route that would be taken without the host's; no default route."""
    holding = [
        other
        for other in stated
        if other.table == route.table
        and 0 < other.prefix.length < route.prefix.length
        and other.prefix.covers(route.prefix.address)
    ]
    return max(holding, key=lambda other: other.prefix.length, default=None)


def _leads_elsewhere(route: Route, around: Route) -> bool:
    """Tell whether a route by a gateway goes to another machine than its network's."""
    one, other = route.nexthops[0], around.nexthops[0]
    return one.gateway is not None and (one.gateway, one.link) != (other.gateway, other.link)


def _report(route: Route, around: Route) -> Finding:
    address, gateway = route.prefix.address, route.nexthops[0].gateway
    usual = around.nexthops[0]
    way = f"{usual.gateway}" if usual.gateway is not None else f"device {usual.link}"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A host route sends {address} to {gateway}, while the rest of {around.prefix} goes "
            f"to {way}."
        ),
        evidence=spans_of((route, around)),
        reasoning=("The longest prefix wins, so the route to the single address counts.",),
        breaks=(f"packets to {address}, if {gateway} does not know it",),
        prevention="Remove a host route together with the machine that it leads to.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                f"whether {gateway} has anything to do with {address}",
                f"ip neigh show {gateway}; ip route get {address} (on {gateway}, too)",
                f"{gateway} does not answer, or does not deliver {address}: the route is stale",
            ),
        ),
        marks=(str(gateway),),
    )
