"""route-without-carrier: the winning route uses a device without carrier.

What it is
    The kernel marks a route `linkdown` if its device is up without carrier (no cable, the other end
    down, a bridge without a running port), or `dead` if the device is down. The route stays, and
    remains the best one.

Why it breaks
    Unless ignore_routes_with_linkdown is set, the kernel keeps sending packets there, and they
    are lost, even if another device has a route with a higher metric.

How to confirm
    ip route show default; ip -br link
    cat /sys/class/net/DEVICE/carrier

How to fix
    Bring the link up, or delete its route; sysctl -w
    net.ipv4.conf.all.ignore_routes_with_linkdown=1 makes the kernel skip such routes.

References
    fib_table_lookup (net/ipv4/fib_trie.c v6.12); Documentation/networking/ip-sysctl.rst
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.node.case import Case

CATEGORIES = (
    Category.LINK_DOWN,
    Category.WRONG_ROUTE,
    Category.NO_ROUTE,
)
NAME = "route-without-carrier"


def check(case: Case) -> Iterator[Finding]:
    """Report a default route of the host that is best and whose every way is dead."""
    for family in (4, 6):
        defaults = [
            route
            for route in case.node.host.routes.items
            if route.prefix.length == 0
            and route.prefix.family == family
            and route.type == "unicast"
            and not route.inferred
        ]
        best = min(defaults, key=lambda route: route.metric, default=None)
        if best is None or best.span is None or not best.nexthops:
            continue
        if not all(hop.linkdown or hop.dead for hop in best.nexthops):
            continue
        device = best.nexthops[0].link
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=f"The host's default route uses {device}, which has no carrier.",
            evidence=(best.span,),
            reasoning=(
                "The kernel marks the route but still uses it: no other has a lower metric.",
            ),
            breaks=("all traffic that leaves the host by its default route",),
            prevention=(
                "Let the network manager remove routes when their link goes down, or set "
                "ignore_routes_with_linkdown."
            ),
            marks=("linkdown", str(device)),
        )
