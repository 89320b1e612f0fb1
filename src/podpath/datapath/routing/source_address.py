"""Which of its addresses a host takes as its own toward somewhere: `inet_select_addr`.

The first primary address of the device whose subnet holds the next hop, else the device's first
primary one, else one of any other device; never a secondary one, and never what a route's `src`
says (`net/ipv4/devinet.c:inet_select_addr v6.12`).
"""

from __future__ import annotations

from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.walk import settings
from podpath.net.addresses import Address
from podpath.net.provenance import Known
from podpath.node.links import InterfaceAddress, Link

SCOPES = {"global": 0, "universe": 0, "site": 200, "link": 253, "host": 254, "nowhere": 255}
"""`enum rt_scope_t`: a larger number reaches less far."""


def scope_number(scope: str) -> int:
    """Return a scope's number; a numeric one is spelled as a number."""
    return SCOPES[scope] if scope in SCOPES else settings.integer(scope)


def select_address(
    namespace: Namespace,
    link: Link,
    nexthop: Address | None,
    scope: str = "global",
    family: int = 4,
) -> InterfaceAddress | None:
    """Return the address that the kernel takes on a device toward a next hop; None where the
    namespace has none that fits.
    """
    limit = scope_number(scope)
    cap = SCOPES["link"] if _routes_localnet(namespace, link) else SCOPES["host"]
    first: InterfaceAddress | None = None
    for item in namespace.by_link.get(link.name, ()):
        if (
            item.secondary
            or item.address.family != family
            or min(scope_number(item.scope), cap) > limit
        ):
            continue
        if nexthop is None or item.prefix.covers(nexthop):
            return item
        first = first or item
    return first or _elsewhere(namespace, limit, family)


def _elsewhere(namespace: Namespace, limit: int, family: int) -> InterfaceAddress | None:
    for other in namespace.ordered:
        for item in namespace.by_link.get(other.name, ()):
            reach = scope_number(item.scope)
            if (
                not item.secondary
                and item.address.family == family
                and reach != SCOPES["link"]
                and reach <= limit
            ):
                return item
    return None


def _routes_localnet(namespace: Namespace, link: Link) -> bool:
    for device in (settings.ALL, link.name):
        fact = settings.device_fact(namespace, settings.ROUTE_LOCALNET, device)
        if isinstance(fact, Known) and fact.value == "1":
            return True
    return False
