"""Routes that follow from addresses, for a namespace whose evidence does not list them.

`ip route` shows the main table only, so the local table is rarely in evidence; a ticket may hold
`ip addr` and no route at all. The kernel makes these routes itself when an address is added
(`net/ipv4/fib_frontend.c:fib_add_ifaddr v6.12`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from podpath.net.addresses import WIDTH, Address, Family, IfName, Prefix
from podpath.net.provenance import Basis, Inferred
from podpath.node.links import InterfaceAddress, Link
from podpath.node.node import Netns
from podpath.node.routing import LOCAL, MAIN, Nexthop, Route

_LOOPBACK: dict[Family, tuple[InterfaceAddress, ...]] = {
    4: (
        InterfaceAddress(
            link=IfName("lo"), address=Address(4, 127 << 24 | 1), length=8, scope="host"
        ),
    ),
    6: (InterfaceAddress(link=IfName("lo"), address=Address(6, 1), length=128, scope="host"),),
}
"""What `lo` has once it is up, where no address of it is listed."""


def complete_routes(netns: Netns, links: Mapping[str, Link], family: Family) -> tuple[Route, ...]:
    """Return the namespace's routes of a family, with those that its addresses imply where the
    evidence leaves them out.

    The local table is taken as listed where it holds the route of an own address. Routes of the
    main table are added only to an incomplete listing: in a whole one a missing route was deleted.
    """
    routes = [route for route in netns.routes.items if route.prefix.family == family]
    have = set(map(_identity, routes))
    for route in _imply_routes(netns, routes, links, family):
        if _identity(route) not in have:
            have.add(_identity(route))
            routes.append(route)
    return tuple(routes)


def _imply_routes(
    netns: Netns, listed: Sequence[Route], links: Mapping[str, Link], family: Family
) -> Iterator[Route]:
    """Yield the routes that addresses imply, of the tables whose listing leaves them out."""
    addresses = [item for item in netns.addresses.items if item.address.family == family]
    if not any(item.link == "lo" for item in addresses):
        addresses = [*_LOOPBACK[family], *addresses]
    own = {Prefix.of(item.address) for item in addresses}
    stated = (route for route in listed if route.table == LOCAL and not route.inferred)
    if not any(route.prefix in own for route in stated):
        for item in addresses:
            yield from _local_routes(item)
    if not netns.routes.complete:
        for item in addresses:
            yield from _connected_routes(item, links)


def _identity(route: Route) -> tuple[object, ...]:
    return route.table, route.type, route.prefix, _device(route)


def _device(route: Route) -> str | None:
    return route.nexthops[0].link if route.nexthops else None


def _local_routes(item: InterfaceAddress) -> Iterator[Route]:
    family, width = item.address.family, WIDTH[item.address.family]
    own = Prefix(family, item.address.value, width)
    yield _implied(item, own, "local", LOCAL, scope="host")
    if family == 6:
        return
    prefix = item.prefix
    if item.link == "lo" and prefix.length < width and not item.secondary:
        yield _implied(item, prefix, "local", LOCAL, scope="host")
    if item.broadcast is not None:
        yield _implied(item, Prefix.of(item.broadcast), "broadcast", LOCAL, scope="link")
    if prefix.length < width - 1 and not item.secondary:
        yield _implied(item, Prefix.of(prefix.broadcast), "broadcast", LOCAL, scope="link")


def _connected_routes(item: InterfaceAddress, links: Mapping[str, Link]) -> Iterator[Route]:
    link = links.get(item.link)
    down = link is not None and not link.up
    single = item.length >= WIDTH[item.address.family] and item.peer is None
    if item.link == "lo" or item.secondary or item.noprefixroute or down or single:
        return
    yield _implied(item, item.prefix, "unicast", MAIN, scope="link")


def _implied(item: InterfaceAddress, prefix: Prefix, kind: str, table: int, *, scope: str) -> Route:
    basis = item.inferred.by if item.inferred is not None else Basis.IMPLIED
    return Route(
        prefix=prefix,
        type=kind,
        nexthops=(Nexthop(link=item.link),),
        table=table,
        scope=scope,
        protocol="kernel",
        prefsrc=item.address if item.address.family == 4 else None,
        span=item.span,
        inferred=Inferred(
            basis, f"the address {item.address} on {item.link} implies it", item.span
        ),
    )
