"""route-gateway-refused: a route is refused because its gateway or its device cannot be used.

What it is
    A command that sets a route answers `Nexthop has invalid gateway`, `Network is unreachable`
    (SIOCADDRT), `Device for nexthop is not up` or similar.

Why it breaks
    A gateway has to be on a network that the device is in, or be marked onlink; and the device has
    to be up. Otherwise the kernel does not accept the route, so it does not exist.

How to confirm
    ip addr show DEVICE                     # is the gateway inside one of its prefixes?
    ip route get GATEWAY

How to fix
    Set the address with the correct prefix length, or add `onlink` (netplan: on-link: true) if the
    gateway is outside it on purpose, as on many rented servers with a /32.

References
    fib_check_nh (net/ipv4/fib_semantics.c v6.12); ip-route(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.said import find_said
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.NO_ROUTE,
    Category.WRONG_ROUTE,
    Category.NETWORK_MANAGER,
)
NAME = "route-gateway-refused"


def check(case: Case) -> Iterator[Finding]:
    """Report each refusal, with the words of the kernel."""
    for message in find_said(case, MessageKind.ROUTE_REFUSED):
        error = message.values["error"]
        if error == "Invalid prefix for given prefix length":
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=f"The kernel refuses a route: {error}.",
            evidence=(message.span,),
            reasoning=("The route that the command was to add is not in the routing table.",),
            breaks=("traffic that the route is for",),
            prevention="Keep address, prefix length and gateway of a device in one file.",
            certainty=0.8,
            marks=(error,),
        )
