"""no-route: no route leads to the destination, or the winning route ends the packet.

What it is
    The lookup of the destination finds nothing, or a route of type unreachable, prohibit, blackhole
    or throw.

Why it breaks
    The sender gets ENETUNREACH, or an ICMP error from the forwarding host; a blackhole sends
    nothing. Network plugins write blackhole routes for their own address blocks (Calico) and routes
    for each node's range: when the daemon that keeps them (bird, flanneld, cloud controllers) is
    down or late, a node's range has no route, or its packets take the default route.

How to confirm
    ip route get DESTINATION from SOURCE iif DEVICE
    ip rule; ip route show table all

How to fix
    Add the missing route, or remove the one that wins by mistake; then fix the daemon that should
    maintain it.

References
    fib_lookup (include/net/ip_fib.h), fib_table_lookup (net/ipv4/fib_trie.c), ip_route_input_slow
    (net/ipv4/route.c)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.told import list_failing
from podpath.net.addresses import Address, Family
from podpath.net.complaints import EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import Netns, NetnsRole
from podpath.node.routing import DEFAULT, LOCAL, MAIN, PolicyRule, Route

CATEGORIES = (Category.NO_ROUTE,)
NAME = "no-route"
"""Walks see it, too: here it is looked for where a try has no known start."""
QUOTED = 3


class _Unreached(NamedTuple):
    """What the kernel said that it has no route to."""

    dst: Address | None
    """None for the world outside, which only a default route leads to."""
    span: Span


def check(case: Case) -> Iterator[Finding]:
    """Report the one namespace whose whole list of routes of a family is shown and has none to what
    a program was told is unreachable.
    """
    for missed in _list_unreached(case):
        family = 4 if missed.dst is None else missed.dst.family
        shown = [
            (netns, routes)
            for netns in case.node.namespaces.values()
            if (routes := _list(netns, family))
        ]
        if len(shown) == 1 and not _leads(shown[0][1], missed.dst):
            yield _report(*shown[0], missed)
            return


def _list(netns: Netns, family: Family) -> list[Route]:
    """Return the routes of the main table, where a listing shows all of them and no rule is shown
    that leads elsewhere.
    """
    if family not in netns.routed or _list_own_rules(netns, family):
        return []
    return [
        route
        for route in netns.routes.items
        if route.span is not None and route.table == MAIN and route.prefix.family == family
    ]


def _list_own_rules(netns: Netns, family: Family) -> list[PolicyRule]:
    """Return the policy rules of a family beside those that every kernel has."""
    return [
        rule
        for rule in netns.rules.items
        if rule.family == family and rule.table not in {MAIN, LOCAL, DEFAULT}
    ]


def _list_unreached(case: Case) -> Iterator[_Unreached]:
    for lost in case.unplaced:
        if lost.result is FailureKind.NETWORK_UNREACHABLE and lost.dst is not None:
            yield _Unreached(lost.dst, lost.span)
    for one in list_failing(case):
        if one.failure is not FailureKind.NETWORK_UNREACHABLE:
            continue
        ends = [address for address in one.addresses if address not in one.sources]
        yield from (_Unreached(address, one.span) for address in ends)
        if not ends and one.target is EndKind.OUTSIDE:
            yield _Unreached(None, one.span)


def _leads(routes: list[Route], dst: Address | None) -> bool:
    if dst is None:
        return any(route.prefix.length == 0 for route in routes)
    return any(route.prefix.covers(dst) for route in routes)


def _report(netns: Netns, routes: list[Route], missed: _Unreached) -> Finding:
    where = "the host" if netns.role == NetnsRole.HOST else netns.name
    goal = "other networks" if missed.dst is None else str(missed.dst)
    spans = [route.span for route in routes if route.span is not None]
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"No route of {where} leads to {goal}, and there is no default route.",
        evidence=(*spans[:QUOTED], missed.span),
        reasoning=(
            (
                "The list of routes is complete, and the kernel answers ENETUNREACH where none "
                "matches."
            ),
        ),
        breaks=(f"everything from {where} to {goal}",),
        prevention="Alert where the default route is missing (ip route show default).",
    )
