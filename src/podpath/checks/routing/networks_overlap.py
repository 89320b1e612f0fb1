"""networks-overlap: the networks of two devices of the host overlap.

What it is
    A bridge for containers or guests (docker0, br-..., cni0, virbr0, lxdbr0) has a network that
    overlaps with that of another device: the LAN, a VPN, another bridge. Or a container's own
    network covers an address outside that the host reaches.

Why it breaks
    For addresses in both, the more specific route wins, or the first one: one of the two networks
    cannot be reached from this host and its containers. This is typical of home LANs and VPNs in
    172.17.0.0/16, 192.168.0.0/16 or 10.0.0.0/8.

How to confirm
    ip route show; ip -br addr
    ip route get ADDRESS           # which device is taken?

How to fix
    Give the containers another range: `bip` and `default-address-pools` in /etc/docker/daemon.json,
    or the subnet of the network.

References
    fib_table_lookup (net/ipv4/fib_trie.c v6.12); docs.docker.com, daemon.json
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.ground import Unsettling
from podpath.checks.stated import is_inner_bridge, is_tunnel, spans_of
from podpath.checks.told import INNER, LOSSES, WORKLOADS, list_failing
from podpath.net.addresses import WIDTH, Address, Prefix
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.links import InterfaceAddress
from podpath.node.node import HOST, Netns
from podpath.node.routing import MAIN, Route

CATEGORIES = (
    Category.OVERLAPPING_RANGES,
    Category.WRONG_ROUTE,
)
NAME = "networks-overlap"
WIDEST = 24
"""The first part of an engine's network, from which it gives its containers their addresses."""
_POOLS = (Prefix.parse("172.16.0.0/12"), Prefix.parse("192.168.0.0/16"))
"""The ranges from which engines take networks where nobody says one."""
_UNHEARD = LOSSES | {FailureKind.NO_ROUTE_TO_HOST}
"""How a connection ends that is led to where nobody is."""
TOLD = 0.7
"""Where prose alone says that a network is outside."""


ASK = FollowUp(
    "where the address that fails is",
    "ip route get ADDRESS (on the host); docker network ls; docker network inspect bridge",
    "the host reaches it through a device other than the containers' bridge: give the bridge "
    "another range",
)


def check(case: Case) -> Iterator[Finding]:
    """Report each pair of a container bridge and another device whose networks overlap."""
    captured = (*_list_captured(case), *_list_told(case)) or (
        *_list_behind(case),
        *_list_shadowing(case),
    )
    yield from captured or _list_tried(case)
    yield from _list_inside(case)
    for one, other in find_pairs(case.node.host):
        if one.span is None or other.span is None:
            continue
        taken = _find_taken_gateway(case.node.host, one, other)
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"The networks of {one.link} ({one.prefix}) and {other.link} ({other.prefix}) "
                "overlap."
            ),
            evidence=(one.span, other.span, *spans_of([taken])),
            reasoning=("The host looks for an address in both on only one of them.",),
            breaks=(f"traffic to addresses of {one.prefix} that are behind the other device",),
            prevention="Plan the ranges of containers, nodes and VPNs together.",
            certainty=1.0 if one.prefix == other.prefix or taken is not None else 0.7,
            marks=(str(one.prefix), str(other.prefix)),
            doubted_by=frozenset({Unsettling.OUTSIDE_RANGE}),
        )


def _find_taken_gateway(
    host: Netns, one: InterfaceAddress, other: InterfaceAddress
) -> Route | None:
    """Return the route whose gateway, in the network of the other device, is the address of the
    first: one listing shows both devices, so what is sent to the gateway stays on the host.
    """
    if one.span is None or other.span is None or one.span.source != other.span.source:
        return None
    for route in host.routes.items:
        hops = route.nexthops if route.span is not None and route.inferred is None else ()
        for hop in hops:
            if hop.gateway == one.address and hop.link == other.link:
                return route
    return None


def _list_captured(case: Case) -> Iterator[Finding]:
    """Report the first address that is said to be elsewhere, and that the host's routes lead to a
    bridge of its own containers.
    """
    host = case.node.host
    routes = [one for one in host.routes.items if one.span is not None and one.table == MAIN]
    for told in list_failing(case) if host.routes.complete else ():
        inner = told.target in INNER or (
            told.source in INNER and told.target is not EndKind.OUTSIDE
        )
        for address in () if inner else told.addresses:
            found = _find_route(routes, address)
            device = found.nexthops[0].link if found is not None and found.nexthops else None
            if found is None or device is None or not is_inner_bridge(device):
                continue
            if not host.holds(address) and (_is_elsewhere(told) or address in told.sources):
                yield _report_captured(found, device, str(address), told.span)
                return


def _list_tried(case: Case) -> Iterator[Finding]:
    """Report the first address that the host itself asked for in vain on a bridge of its own
    containers, and that is none that an engine would have given one.
    """
    host = case.node.host
    routes = [one for one in host.routes.items if one.span is not None and one.table == MAIN]
    for tried in case.attempts:
        address = tried.probe.dst
        silent = tried.is_bad and tried.result is FailureKind.NO_ROUTE_TO_HOST
        found = _find_route(routes, address) if silent and tried.probe.netns == HOST else None
        if found is None or not _is_of_bridge(found) or not _is_own_network(case, found, address):
            continue
        device = found.nexthops[0].link or ""
        yield _doubt(_report_captured(found, device, str(address), tried.span))
        return


def _list_told(case: Case) -> Iterator[Finding]:
    """Report a network that is said to be outside, and that the host has on a bridge of its own."""
    inner = [
        (route, route.nexthops[0].link or "")
        for route in case.node.host.routes.items
        if route.span is not None and route.table == MAIN and _is_of_bridge(route)
    ]
    for told in list_failing(case):
        if {told.source, told.target} & INNER or not _is_elsewhere(told):
            continue
        for route, device in inner:
            if any(one.length and route.prefix.covers(one) for one in told.prefixes):
                yield _doubt(_report_captured(route, device, str(route.prefix), told.span))
                return


def _list_behind(case: Case) -> Iterator[Finding]:
    """Report the first address or network of which a sentence says that it is behind a router or at
    another site, and that the host looks for on a network of its own.
    """
    routes = _list_routes(case)
    gateways = {hop.gateway for route in routes for hop in route.nexthops}
    elsewhere = [one for one in case.told if one.circumstance is Circumstance.ELSEWHERE]
    if not any(map(_may_be_captured, list_failing(case))):
        return
    for told in elsewhere:
        named = [Prefix.of(one, WIDTH[one.family]) for one in told.addresses if one not in gateways]
        for wanted in (*named, *(one for one in told.prefixes if one.length)):
            found = _find_route(routes, wanted.address)
            near = found is not None and _is_near(found) and not _is_held(case, wanted.address)
            if found is None or not near or not found.prefix.covers(wanted):
                continue
            single = wanted.length == WIDTH[wanted.family]
            text = str(wanted.address) if single else str(wanted)
            finding = _report_captured(found, found.nexthops[0].link or "", text, told.span)
            inner = is_inner_bridge(found.nexthops[0].link or "")
            doubted = _doubt(finding)
            if not inner:
                doubted = replace(doubted, proves=frozenset())
            yield finding if single and inner else doubted
            return


def _list_shadowing(case: Case) -> Iterator[Finding]:
    """Report a bridge of the host's own containers or guests whose network lies in a range that
    another route leads to a gateway.
    """
    routes = _list_routes(case)
    failing = [one for one in list_failing(case) if _may_be_captured(one)]
    tried = [one for one in case.attempts if one.is_bad and one.probe.netns == HOST]
    named = [end for one in failing for end in one.addresses]
    unheard = [one.probe.dst for one in tried if one.result in _UNHEARD]
    for route in routes:
        for other in routes if _is_of_bridge(route) and failing else ():
            apart = other.prefix.length and any(hop.gateway is not None for hop in other.nexthops)
            if not apart or not other.prefix.covers(route.prefix) or other.span is None:
                continue
            device = route.nexthops[0].link or ""
            asked = [end for end in named if route.prefix.covers(end)]
            asked += [end for end in unheard if _is_own_network(case, route, end)]
            if (named or unheard) and not asked:
                continue
            finding = _report_captured(route, device, str(route.prefix), failing[0].span)
            finding = replace(finding, evidence=(finding.evidence[0], other.span))
            sure = any(not _is_held(case, end) for end in asked)
            yield finding if sure else replace(_doubt(finding), proves=frozenset())
            return


def _list_routes(case: Case) -> list[Route]:
    routes = case.node.host.routes.items
    return [one for one in routes if one.span is not None and one.table == MAIN]


def _may_be_captured(told: Complaint) -> bool:
    """Tell whether what fails may be a connection of the host or its containers to another
    machine.
    """
    silent = told.failure in {None, FailureKind.NO_ROUTE_TO_HOST, *LOSSES}
    return silent and not {told.target} & INNER


def _is_near(route: Route) -> bool:
    """Tell whether a route is that of a network of the host's own, without a gateway, which is no
    tunnel's.
    """
    hops = route.nexthops
    alone = len(hops) == 1 and hops[0].gateway is None and route.prefix.length > 0
    return alone and not is_tunnel(hops[0].link or "")


def _is_held(case: Case, address: Address) -> bool:
    """Tell whether something on the host is shown to have an address, or a neighbor answers for
    it.
    """
    answers = any(
        one.address == address and one.mac is not None for one in case.node.host.neighbours.items
    )
    return answers or any(netns.holds(address) for netns in case.node.namespaces.values())


def _list_inside(case: Case) -> Iterator[Finding]:
    """Report an address that a container does not reach since it takes it for one of its own
    network, while the host or others reach it.
    """
    reached = any(
        one.works and {one.source, one.target} & {EndKind.NODE, EndKind.OUTSIDE}
        for one in case.complaints
    )
    spaces = [one for name, one in case.node.namespaces.items() if name != HOST]
    for told in list_failing(case):
        inner = told.target in WORKLOADS or told.source not in {EndKind.CONTAINER, EndKind.POD}
        if inner or len(told.addresses) != 1:
            continue
        address = told.addresses[0]
        for netns in spaces:
            found = _find_route(netns.routes.items, address)
            if found is None or found.span is None or not _is_own_network(case, found, address):
                continue
            finding = _report_inside(found, address, told)
            yield finding if reached else replace(finding, certainty=TOLD, asks=(ASK,))
            return


def _is_own_network(case: Case, route: Route, address: Address) -> bool:
    """Tell whether a route is that of a container's own network, from the ranges that engines take
    by themselves, and no container is known to have the address.
    """
    connected = all(hop.gateway is None for hop in route.nexthops) and route.prefix.covers(address)
    first = Prefix.of(route.prefix.address, WIDEST)
    taken = any(pool.covers(route.prefix) for pool in _POOLS) and not first.covers(address)
    held = any(netns.holds(address) for netns in case.node.namespaces.values())
    return connected and taken and not held


def _report_inside(route: Route, address: Address, told: Complaint) -> Finding:
    spans = (route.span, told.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The container takes {address} for one of its own network {route.prefix}: the range "
            "that the engine chose covers a network outside."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=("It asks for the address by ARP on its bridge, where nobody has it.",),
        breaks=(f"traffic from containers to addresses of {route.prefix} outside",),
        prevention="Plan the ranges of containers, nodes and VPNs together (bip, address pools).",
        marks=(str(route.prefix), str(address)),
    )


def _is_of_bridge(route: Route) -> bool:
    """Tell whether a route is that of the network of a bridge for containers or guests."""
    hops = route.nexthops
    return len(hops) == 1 and hops[0].gateway is None and is_inner_bridge(hops[0].link or "")


def _doubt(finding: Finding) -> Finding:
    """Return it as possible: the network that people name may be that of the bridge."""
    network = finding.marks[0]
    ask = FollowUp(
        f"whose network {network} is",
        "docker network ls; docker network inspect NAME; ip route get ADDRESS",
        f"an engine chose {network} for a bridge, and others have it, too: it has to move",
    )
    return replace(finding, certainty=TOLD, asks=(ask,), proves=LOSSES)


def _is_elsewhere(told: Complaint) -> bool:
    """Tell whether a sentence is about a VPN or the world outside."""
    vpn = {Technology.OPENVPN, Technology.WIREGUARD} & told.mentions
    return bool(vpn) or EndKind.OUTSIDE in {told.source, told.target}


def _find_route(routes: Sequence[Route], address: Address) -> Route | None:
    fitting = [one for one in routes if one.prefix.covers(address) and one.prefix.length]
    return min(fitting, key=lambda one: (-one.prefix.length, one.metric), default=None)


def _report_captured(route: Route, device: str, address: str, said: Span) -> Finding:
    spans = (route.span, said)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The host sends what is for {address} to its own {device}, whose network "
            f"{route.prefix} covers it."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=("The most specific route wins, and of equal ones that with the lowest metric.",),
        breaks=(f"traffic to addresses of {route.prefix} that are not behind {device}",),
        prevention="Plan the ranges of containers, nodes and VPNs together.",
        marks=(str(route.prefix), device),
    )


def find_pairs(host: Netns) -> Iterator[tuple[InterfaceAddress, InterfaceAddress]]:
    """Yield pairs of addresses on different devices in overlapping networks, a container bridge's
    first.
    """
    wide = [
        item
        for item in host.addresses.items
        if item.address.family == 4
        and item.length < 31
        and not item.inferred
        and not item.address.is_loopback
        and not item.address.is_link_local
    ]
    inner = [item for item in wide if is_inner_bridge(item.link)]
    outer = [item for item in wide if not is_inner_bridge(item.link) and not _is_overlay(item.link)]
    pairs = [*combinations(inner, 2), *((one, other) for one in inner for other in outer)]
    for one, other in pairs:
        apart = one.link != other.link
        if apart and one.prefix.overlaps(other.prefix):
            yield one, other


def _is_overlay(name: str) -> bool:
    """Tell whether a device is a plugin's own tunnel, whose network holds those of the bridges on
    purpose.
    """
    return (
        is_tunnel(name)
        and not name.startswith(("tun", "wg", "ppp", "tap", "tailscale", "nordlynx"))
    ) or name.startswith("tunl")
