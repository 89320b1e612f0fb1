"""From a route that a lookup found to where the packet goes: the nexthop, the device, the source
address, the MTU.
"""

from __future__ import annotations

from podpath.datapath.netns.fib import FibResult
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.routing.source_address import select_address
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.tracing.exploration import Choices
from podpath.net.addresses import Address
from podpath.net.provenance import Option
from podpath.node.routing import Nexthop, Route

UNROUTED = Nexthop()
ETHERNET_MTU = 1500
"""Of a device that the evidence does not show."""


def select_path(
    choices: Choices, namespace: Namespace, result: FibResult, src: Address | None, dst: Address
) -> Destination:
    """Return where a usable route leads; among several nexthops the kernel chooses by a hash of the
    flow (`fib_select_path`).
    """
    hops = result.nexthops
    if len(hops) <= 1:
        return destination_of(namespace, result, hops[0] if hops else UNROUTED)
    prefix = result.route.prefix if result.route else "default"
    key = f"nexthop of {src} > {dst} by {prefix} in netns {namespace.name}"
    heaviest_first = sorted(hops, key=lambda hop: -hop.weight)
    options = tuple(Option(hop, f"{_spell(hop)}, weight {hop.weight}") for hop in heaviest_first)
    return destination_of(namespace, result, choices.choose(key, options, random=True))


def destination_of(namespace: Namespace, result: FibResult, hop: Nexthop) -> Destination:
    """Return where one nexthop of a route leads, made once for a node."""
    key = id(result.route), id(hop), id(result.rule)
    found = namespace.destinations.get(key)
    if found is None:
        found = namespace.destinations[key] = _make(namespace, result, hop)
    return found


def _make(namespace: Namespace, result: FibResult, hop: Nexthop) -> Destination:
    route = result.route
    kind = route.type if route is not None else "unreachable"
    link = namespace.link(hop.link) if hop.link is not None else None
    device_mtu = link.mtu if link is not None else ETHERNET_MTU
    own = route.mtu if route is not None else None
    inferred = link.mtu_inferred if link is not None and not own else None
    prefsrc = preferred_source(namespace, route, hop) if route is not None else None
    mtu = own or device_mtu
    return Destination(kind, link, hop.gateway, prefsrc, route, mtu, result.spans, inferred)


def preferred_source(namespace: Namespace, route: Route, hop: Nexthop) -> Address | None:
    """Return the source that a local sender takes: the route's `src`, else one of the device
    (`fib_result_prefsrc`).
    """
    if route.prefsrc is not None:
        return route.prefsrc
    if hop.link is None:
        return None
    if hop.gateway is not None and hop.gateway.family == route.prefix.family:
        gateway = hop.gateway
    else:
        gateway = None
    chosen = select_address(
        namespace, namespace.link(hop.link), gateway, route.scope, route.prefix.family
    )
    return chosen.address if chosen is not None else None


def _spell(hop: Nexthop) -> str:
    via = f"via {hop.gateway} " if hop.gateway is not None else ""
    return f"{via}dev {hop.link}"
