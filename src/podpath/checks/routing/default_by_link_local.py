"""default-by-link-local: a default route with a link-local source wins over the one via a gateway.

What it is
    `ip route` lists a default route without a gateway whose source is in 169.254.0.0/16, with a
    lower metric than the default route via a gateway. A DHCP client (dhcpcd, avahi-autoipd,
    ConnMan) that got no lease on a bridge or a second NIC gives it such an address and such a
    route. Or the host's default route leads to the host's end of a container's veth.

Why it breaks
    The kernel uses the default route with the lowest metric. It sends ARP requests for every
    Internet address on a link where nothing has it, or sends with a source that nobody can reply
    to.

How to confirm
    ip route get 1.1.1.1
    ip addr show dev DEVICE; journalctl -b -u dhcpcd -u NetworkManager -u avahi-autoipd

How to fix
    ip route del default dev DEVICE
    Keep the client off the device: denyinterfaces DEVICE and noipv4ll (dhcpcd.conf),
    ipv4.link-local=disabled (NetworkManager), LinkLocalAddressing=ipv6 (networkd).

References
    RFC 3927; fib_select_default (net/ipv4/fib_semantics.c v6.12); dhcpcd.conf(5)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import spans_of
from podpath.checks.told import list_lost
from podpath.net.addresses import Prefix
from podpath.net.complaints import EndKind
from podpath.node.case import Case
from podpath.node.routing import MAIN, Route

CATEGORIES = (Category.WRONG_ROUTE, Category.NETWORK_MANAGER)
NAME = "default-by-link-local"
LINK_LOCAL = Prefix.parse("169.254.0.0/16")
_VETH = re.compile(r"(?:veth[0-9a-f]|cali[0-9a-f]|lxc[0-9a-f_]|vnet\d)")
_BEYOND = frozenset({EndKind.OUTSIDE, EndKind.NAME_SERVER})


def check(case: Case) -> Iterator[Finding]:
    """Report a default route of a link-local source before every one that has a gateway."""
    for namespace in case.node.namespaces.values():
        defaults = [
            route
            for route in namespace.routes.items
            if route.prefix == Prefix.parse("0.0.0.0/0") and _is_listed(route)
        ]
        local = [route for route in defaults if _is_link_local(route)]
        proper = [route for route in defaults if _has_gateway(route)]
        if local and proper and local[0].metric < min(route.metric for route in proper):
            yield _report(case, local[0], proper[0])
    yield from _find_inner(case)


def _find_inner(case: Case) -> Iterator[Finding]:
    """Report a default route of the host's that leads to a container's veth, and that the kernel
    takes: it is listed before every one that has a gateway, by no higher metric.
    """
    defaults = [
        route
        for route in case.node.host.routes.items
        if route.prefix == Prefix.parse("0.0.0.0/0") and _is_listed(route)
    ]
    proper = [route for route in defaults if _has_gateway(route)]
    inner = [
        route
        for route in defaults
        if not _is_link_local(route) and not _has_gateway(route) and _is_of_container(route)
    ]
    if proper and inner and defaults[0] is inner[0] and _is_first(inner[0], proper):
        yield _report_inner(case, inner[0], proper[0])


def _is_of_container(route: Route) -> bool:
    return any(hop.link is not None and _VETH.match(hop.link) for hop in route.nexthops)


def _is_first(route: Route, others: Iterable[Route]) -> bool:
    return all(route.metric <= other.metric for other in others)


def _report_inner(case: Case, inner: Route, proper: Route) -> Finding:
    device = next((str(hop.link) for hop in inner.nexthops if hop.link is not None), "a device")
    local = [one for one in case.node.host.routes.items if _is_local_on(one, device)]
    sure = any(one.target in _BEYOND for one in list_lost(case))
    daemon = "a DHCP client or network manager on the host took the device for a network card"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The host's default route leads to {device}, a container's device, before the one via "
            f"a gateway: {daemon}."
        ),
        evidence=spans_of((inner, *local[:1], proper)),
        reasoning=("Nothing on that link answers for addresses on the Internet.",),
        breaks=("all traffic beyond the host's own networks",),
        repairs=(
            Repair(title="delete that route", commands=(f"ip route del default dev {device}",)),
        ),
        prevention="Keep the host's network managers off the devices of containers.",
        certainty=1.0 if sure else 0.7,
        marks=(device,),
        asks=() if sure else (_ask_way(device),),
    )


def _is_local_on(route: Route, device: str) -> bool:
    return route.prefix == LINK_LOCAL and any(hop.link == device for hop in route.nexthops)


def _ask_way(device: str) -> FollowUp:
    return FollowUp(
        "which way packets to the Internet go",
        "ip route get 1.1.1.1",
        f"via {device}: this default route takes them",
    )


def _is_listed(route: Route) -> bool:
    return route.span is not None and not route.inferred and route.table == MAIN


def _is_link_local(route: Route) -> bool:
    bare = all(hop.gateway is None for hop in route.nexthops)
    return bare and route.prefsrc is not None and LINK_LOCAL.covers(route.prefsrc)


def _has_gateway(route: Route) -> bool:
    return any(hop.gateway is not None for hop in route.nexthops)


def _report(case: Case, local: Route, proper: Route) -> Finding:
    device = next((str(hop.link) for hop in local.nexthops if hop.link is not None), "a device")
    sure = any(one.target in _BEYOND for one in list_lost(case))
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The default route via {device}, with the link-local source {local.prefsrc} and "
            f"metric {local.metric}, wins over the one via a gateway (metric {proper.metric})."
        ),
        evidence=spans_of((local, proper)),
        reasoning=("Nothing on that link answers for addresses on the Internet.",),
        breaks=("all traffic beyond the host's own networks",),
        repairs=(
            Repair(title="delete that route", commands=(f"ip route del default dev {device}",)),
        ),
        prevention="Keep the DHCP client off devices that get no lease.",
        certainty=1.0 if sure else 0.7,
        marks=(str(local.prefsrc),),
        asks=() if sure else (_ask_way(device),),
    )
