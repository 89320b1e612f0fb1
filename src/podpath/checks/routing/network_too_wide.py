"""network-too-wide: a device's own network covers an address that is behind a router.

What it is
    A device has a very wide network (10.0.0.0/8, 172.16.0.0/12, a /16), by its netmask or by a
    route without a gateway, and the address that fails lies in it.

Why it breaks
    The host looks for the address on that device itself, by ARP, and asks no router. Nobody there
    has it: "Destination Host Unreachable", or nothing. Without that route, the default route would
    lead there.

How to confirm
    ip route get ADDRESS; ip neigh show to ADDRESS; arping -I DEVICE ADDRESS

How to fix
    Give the device the netmask of its real network, or give the address a route of its own through
    the router that leads to it.

References
    fib_table_lookup (net/ipv4/fib_trie.c v6.12); ip-route(8), scope link
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import is_inner_bridge, is_tunnel, spans_of, uplinks
from podpath.checks.told import WORKLOADS, list_failing, list_failing_addresses
from podpath.net.addresses import Address
from podpath.node.case import Case
from podpath.node.node import Netns
from podpath.node.routing import MAIN, Route

CATEGORIES = (Category.WRONG_ROUTE, Category.OVERLAPPING_RANGES)
NAME = "network-too-wide"
POSSIBLE = 0.6
WIDE, WIDEST = 16, 12
"""The longest prefix that counts as too wide: of a device beside the uplink, and of the uplink,
whose network may be a cloud's /16.
"""


def check(case: Case) -> Iterator[Finding]:
    """Report the first failing address that such a network covers."""
    asking = {end for one in list_failing(case) if one.source in WORKLOADS for end in one.sources}
    ends = list_failing_addresses(case) - asking
    failing = sorted(ends, key=lambda one: (one.family, one.value))
    for netns in case.node.namespaces.values():
        for address in failing if netns.routes.complete else ():
            route = _find_route(netns, address)
            if route is not None and not _is_near(netns, address):
                yield _report(address, route)
                return


def _find_route(netns: Netns, address: Address) -> Route | None:
    """Return the route that takes an address, where it is a wide one without a gateway, and a
    default route would take it otherwise.
    """
    stated = [one for one in netns.routes.items if _is_stated(one) and one.prefix.covers(address)]
    found = max(stated, key=lambda one: one.prefix.length, default=None)
    leaving = uplinks(netns)
    if found is None or not leaving or found.nexthops[0].gateway is not None:
        return None
    device = str(found.nexthops[0].link)
    limit = WIDEST if device in leaving else WIDE
    plain = not is_inner_bridge(device) and not is_tunnel(device)
    return found if plain and 0 < found.prefix.length <= limit else None


def _is_stated(route: Route) -> bool:
    plain = route.table == MAIN and route.type == "unicast" and not route.unread
    return plain and route.span is not None and route.inferred is None and len(route.nexthops) == 1


def _is_near(netns: Netns, address: Address) -> bool:
    """Tell whether an address is the host's own, or a neighbor that answered."""
    answered = any(one.address == address and one.mac for one in netns.neighbours.items)
    return netns.holds(address) or answered


def _report(address: Address, route: Route) -> Finding:
    device = str(route.nexthops[0].link)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{address} is looked for on {device} itself: its route {route.prefix} has no gateway "
            "and covers it."
        ),
        evidence=spans_of((route,)),
        reasoning=("The longest prefix wins, so the default route is not used.",),
        breaks=(f"traffic to {address} and the rest of {route.prefix} that is behind a router",),
        prevention="Give each device the netmask of the network it is really on.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                f"whether {address} is on the network of {device}",
                f"ip route get {address}; ip neigh show to {address}; arping -I {device} {address}",
                "nobody answers there: it is behind a router, and the route is too wide",
            ),
        ),
        marks=(str(route.prefix), device),
    )
