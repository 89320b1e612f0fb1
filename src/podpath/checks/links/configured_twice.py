"""configured-twice: a device has both a static and a leased address on the same network.

What it is
    `ip addr` shows two addresses of one network on one device, one of them `dynamic`, and `ip
    route` shows that network's connected route twice, each with a different one of the two as its
    source. Two programs configure the device, one from a file and one by DHCP.

Why it breaks
    The kernel takes the source address of new connections from the first route it finds, which is
    the one with the lower metric: peers see the other address, which their filters and allow lists
    do not know. Two default routes appear for the same reason. When the lease ends, its address
    goes away, and every connection that uses it breaks.

How to confirm
    ip -d addr show dev DEVICE; ip route
    networkctl status DEVICE; nmcli device show DEVICE; ps aux | grep -i dhc
    cat /etc/netplan/*.yaml /etc/network/interfaces

How to fix
    Leave the device to one program: turn DHCP off in the other one's file (dhcp4: no, `iface ...
    static` alone, unmanaged-devices), stop the DHCP client, and delete the unwanted address.

References
    ip-address(8), `dynamic`; ip_route_output_key, fib_select_default (net/ipv4 v6.12); netplan(5)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import list_failing
from podpath.net.addresses import Prefix
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.links import InterfaceAddress
from podpath.node.node import Netns
from podpath.node.routing import Route

CATEGORIES = (Category.NETWORK_MANAGER, Category.SOURCE_ADDRESS)
NAME = "configured-twice"


def check(case: Case) -> Iterator[Finding]:
    """Report each device with both sorts of address, where both have a connected route."""
    for namespace in case.node.namespaces.values():
        listed = [one for one in namespace.addresses.items if one.span is not None]
        leased = [one for one in listed if one.leased]
        fixed = [one for one in listed if not one.leased]
        for lease, static in product(leased, fixed):
            routes = _find_routes(namespace, lease, static)
            if routes is not None:
                yield _report(case, lease, static, routes)


def _find_routes(
    namespace: Netns, lease: InterfaceAddress, static: InterfaceAddress
) -> tuple[Route, Route] | None:
    """Return the connected routes of the network that both are in; None where one is missing."""
    network = Prefix.of(lease.address, lease.length)
    if (
        lease.link != static.link
        or lease.address.family != 4
        or Prefix.of(static.address, static.length) != network
    ):
        return None
    found = {
        route.prefsrc: route
        for route in namespace.routes.items
        if route.prefix == network and _is_connected(route, lease.link)
    }
    pair = found.get(lease.address), found.get(static.address)
    return (pair[0], pair[1]) if pair[0] is not None and pair[1] is not None else None


def _is_connected(route: Route, link: str) -> bool:
    """Tell whether a listed route leads straight onto a device's network."""
    ways = [hop.gateway is None and hop.link == link for hop in route.nexthops]
    return route.span is not None and not route.inferred and all(ways)


def _report(
    case: Case, lease: InterfaceAddress, static: InterfaceAddress, routes: tuple[Route, Route]
) -> Finding:
    sure = any(one.failure is FailureKind.WRONG_PEER for one in list_failing(case))
    spans = (lease.span, static.span, *(route.span for route in routes))
    ask = FollowUp(
        "who configures the device, and which address peers see",
        f"networkctl status {lease.link}; nmcli device show {lease.link}; ip route get ADDRESS",
        "two programs: turn one of them off for this device",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{lease.link} is configured twice: {static.address} from a file and {lease.address} "
            "by DHCP, on one network with a route for each."
        ),
        evidence=tuple(span for span in spans if isinstance(span, Span)),
        reasoning=("New connections take the source address of the route with the lower metric.",),
        breaks=("connections whose peers expect the other address",),
        prevention="Let only one program configure a device.",
        certainty=1.0 if sure else 0.6,
        marks=("dynamic",),
        asks=() if sure else (ask,),
    )
