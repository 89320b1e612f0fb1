"""Output routing: the way of what this host sends itself, and its source address
(`ip_route_output_key_hash_rcu`).
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.netns.fib import FibResult, FlowKey, explain_error
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons import routes
from podpath.datapath.reasons.routes import OutputReason
from podpath.datapath.routing.assumed import look_up
from podpath.datapath.routing.destinations import select_path
from podpath.datapath.routing.source_address import select_address, select_address6
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk import settings
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.provenance import Span
from podpath.node.links import Link

FUNCTION = "net/ipv4/route.c:ip_route_output_key_hash_rcu v6.12"
LIMITED_BROADCAST = 0xFFFFFFFF


class OutputRoute(NamedTuple):
    """What output routing decided."""

    destination: Destination | None = None
    source: Address | None = None
    """The source address: the one asked for, or the one chosen."""
    error: str = ""
    """The error number that the sender gets, e.g. `ENETUNREACH`."""
    reason: OutputReason | None = None
    """Why there is no way; None where there is one."""
    spans: tuple[Span, ...] = ()
    found: FibResult | None = None


def route_output(
    choices: Choices, namespace: Namespace, flow: FlowKey, *, any_source: bool = False
) -> OutputRoute:
    """Route what the host sends. `any_source` lets a source through that is none of its own
    (`FLOWI_FLAG_ANYSRC`).
    """
    src, dst = flow.src, flow.dst
    if src is not None and not any_source and not _may_send_from(namespace, flow, src):
        return OutputRoute(error="EINVAL", reason=routes.NoAddressOf(src, namespace.name))
    if dst.is_multicast or (dst.family == 4 and dst.value == LIMITED_BROADCAST):
        return _route_to_many(namespace, flow)
    if dst.is_unspecified and (dst.family == 4 or not any_source):
        flow = flow._replace(dst=src or _loopback(dst))
    found = look_up(choices, namespace, flow)
    if found.error:
        return _no_route(namespace, flow, found)
    if found.type == "local":
        return _to_self(namespace, flow, found)
    destination = select_path(choices, namespace, found, src, dst)
    link = destination.link
    if (
        src is not None
        and src.family == 4  # IPv6 does send from ::1, and whoever gets it drops it
        and src.is_loopback
        and link is not None
        and not _routes_loopback(choices, namespace, link)
    ):
        return OutputRoute(
            error="EINVAL", reason=routes.LoopbackStays(src, link.name), spans=found.spans
        )
    source = src or _source(namespace, destination, flow.dst)
    return OutputRoute(destination, source, spans=found.spans, found=found)


def _source(namespace: Namespace, destination: Destination, target: Address) -> Address | None:
    """Return the source that a sender takes who names none (`ip6_route_get_saddr`)."""
    route, link = destination.route, destination.link
    if target.family == 4 or link is None or (route is not None and route.prefsrc is not None):
        return destination.prefsrc
    return select_address6(namespace, link, target)


def _may_send_from(namespace: Namespace, flow: FlowKey, src: Address) -> bool:
    """Tell whether a process may send from an address. IPv6 routing looks at none; of datagrams it
    has to be the host's own (`net/ipv6/datagram.c:ip6_datagram_send_ctl v6.12`).
    """
    if not namespace.netns.addresses.complete:
        return True
    if src.family == 6:
        asked = flow.protocol == protocols.UDP and not (src.is_link_local or src.is_loopback)
        return not asked or namespace.owns(src)
    if src.is_multicast or src.value == LIMITED_BROADCAST or src.value >> 24 == 0:
        return False
    return src.is_loopback or namespace.has_local(src)  # no policy rule is asked: `__ip_dev_find`


def _routes_loopback(choices: Choices, namespace: Namespace, link: Link) -> bool:
    return link.name == "lo" or settings.either(
        choices, namespace, settings.ROUTE_LOCALNET, link.name
    )


def _loopback(dst: Address) -> Address:
    if dst.family == 4:
        return Address(4, 127 << 24 | 1)
    return Address(6, 1)


def _to_self(namespace: Namespace, flow: FlowKey, found: FibResult) -> OutputRoute:
    route = found.route
    preferred = route.prefsrc if route is not None and route.prefsrc is not None else flow.dst
    loopback = namespace.loopback
    destination = Destination("local", loopback, None, preferred, route, loopback.mtu, found.spans)
    return OutputRoute(destination, flow.src or preferred, spans=found.spans, found=found)


def _route_to_many(namespace: Namespace, flow: FlowKey) -> OutputRoute:
    """Send to a group or to everybody: on the device asked for, on that of the source address, or
    by the routes.
    """
    name = flow.oif
    if name is None and flow.src is not None and flow.src in namespace.addresses:
        name = namespace.addresses[flow.src].link
    found = None
    if name is None:
        found = namespace.routing(flow.dst.family).lookup(flow)
        name = found.nexthops[0].link if found.nexthops else None
    if name is None:
        return OutputRoute(error="ENETUNREACH", reason=routes.NoDeviceChosen(flow.dst))
    link = namespace.link(name)
    chosen = select_address(namespace, link, None, "link", flow.dst.family)
    source = flow.src or (chosen.address if chosen is not None else None)
    kind = "multicast" if flow.dst.is_multicast else "broadcast"
    return OutputRoute(Destination(kind, link, None, source, None, link.mtu), source, found=found)


def _no_route(namespace: Namespace, flow: FlowKey, found: FibResult) -> OutputRoute:
    if flow.oif is not None and found.route is None and found.rule is None:
        link = namespace.link(flow.oif)
        chosen = select_address(namespace, link, None, "link", flow.dst.family)
        source = flow.src or (chosen.address if chosen is not None else None)
        return OutputRoute(Destination("unicast", link, None, source, None, link.mtu), source)
    return OutputRoute(
        error=found.error, reason=explain_error(flow.dst, found), spans=found.spans, found=found
    )
