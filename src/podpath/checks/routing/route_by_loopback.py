"""route-by-loopback: a unicast route uses lo, so packets loop until their TTL runs out.

What it is
    A route of type unicast has dev lo: it was leaked from a VRF, or set by hand to discard packets.

Why it breaks
    A packet sent to lo immediately comes in on lo, takes the same route and is sent to lo again,
    until its TTL runs out (the sender gets `time exceeded`) or it is dropped as a martian. To
    discard packets, use a route of type blackhole; to accept them, a route of type local.

How to confirm
    ip route get ADDRESS
    tcpdump -ni lo -v       # the same packet with falling TTL

How to fix
    Delete the route, or give it the right device (the VRF's own device where routes are leaked): ip
    route replace PREFIX dev VRF.

References
    ip_route_output_key_hash_rcu, loopback_xmit (net/ipv4/route.c, drivers/net/loopback.c v6.12)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.net.addresses import Prefix
from podpath.node.case import Case

CATEGORIES = (
    Category.ROUTING_LOOP,
    Category.WRONG_ROUTE,
)
NAME = "route-by-loopback"


def check(case: Case) -> Iterator[Finding]:
    """Report each unicast route over lo but for that of the loopback network."""
    loopback = Prefix.parse("127.0.0.0/8", 4)
    for namespace in case.node.namespaces.values():
        for route in namespace.routes.items:
            swallowed = route.type == "unicast" and any(hop.link == "lo" for hop in route.nexthops)
            if (
                not swallowed
                or route.span is None
                or route.inferred
                or route.prefix.family == 6
                or loopback.covers(route.prefix)
            ):
                continue
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"The route to {route.prefix} uses lo, where packets loop until they are "
                    "dropped."
                ),
                evidence=(route.span,),
                reasoning=("lo returns what it is sent: the packet meets the same route again.",),
                breaks=(f"traffic to {route.prefix}",),
                repairs=(
                    Repair(
                        title="delete the route", commands=(f"ip route del {route.prefix} dev lo",)
                    ),
                ),
                prevention="When you leak routes between VRFs, name the VRF's device in them.",
                certainty=0.8,
                marks=("lo",),
            )
