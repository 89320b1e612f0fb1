"""dead-end-route: a route of type unreachable, blackhole or prohibit covers the address that fails.

What it is
    The most specific route to an address that cannot be reached, or to the services' range, is of
    type unreachable, blackhole or prohibit: BIRD writes `unreachable RANGE proto bird` when it
    cannot reach the next hop, and `blackhole RANGE proto bird` for what its node announces, such as
    its own block of addresses, or the services' range (Calico's serviceClusterIPs).

Why it breaks
    The kernel looks the route up before it translates what a process of the host itself sends, and
    ends there: connect fails with `No route to host` (unreachable), `Invalid argument` (blackhole)
    or `Permission denied` (prohibit). What is forwarded is dropped, for an unreachable route with
    an ICMP error. Pods' packets are translated before the lookup, so only the host's own programs
    fail.

How to confirm
    ip route get ADDRESS; ip route show root RANGE; birdc show route all for ADDRESS

How to fix
    Unreachable: give BIRD a way to the next hop, or filter the range where it is announced. A
    blackhole for a range of services: give the host a route to it, or do not announce it from
    there. Release a block that no pod of the node uses any more (calicoctl ipam check lists them).

References
    fib_props (net/ipv4/fib_semantics.c v6.12): the error of each type; BIRD, protocol kernel;
    Calico, Advertise Kubernetes service IP addresses
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import read_prefix
from podpath.checks.said import find_said
from podpath.checks.told import list_failing
from podpath.net.addresses import Address
from podpath.net.complaints import Complaint, EndKind
from podpath.net.failures import FailureKind, Result
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.routing import MAIN, TABLES, Route

CATEGORIES = (Category.NO_ROUTE, Category.ROUTE_DISTRIBUTION, Category.WRONG_ROUTE)
NAME = "dead-end-route"
LIKELY = 0.9
"""Whether the listing is of the machine that sends is not stated."""
ENDS: Mapping[str, frozenset[Result | None]] = MappingProxyType({
    "unreachable": frozenset({FailureKind.NO_ROUTE_TO_HOST, FailureKind.UNREACHABLE, None}),
    "prohibit": frozenset({FailureKind.ACCESS_DENIED, FailureKind.UNREACHABLE, None}),
    "blackhole": frozenset({
        FailureKind.INVALID_ARGUMENT, FailureKind.TIMEOUT, FailureKind.HANGS,
        FailureKind.UNREACHABLE, None,
    }),
})  # fmt: skip
"""How people and programs say that a packet ended at a route of each type."""
OWN_ERRORS = frozenset({
    ("unreachable", FailureKind.NO_ROUTE_TO_HOST), ("prohibit", FailureKind.ACCESS_DENIED),
    ("blackhole", FailureKind.INVALID_ARGUMENT),
})  # fmt: skip
"""Types with the error that their sender gets, which hardly anything else makes."""
SERVICE_RANGES = frozenset({"--service-cluster-ip-range", "--service-cidr", "serviceSubnet"})


def check(case: Case) -> Iterator[Finding]:
    """Report the first dead end for an address that is not reached, or for services that the host
    itself does not reach.
    """
    for address, result, span in _list_missed(case):
        route = _find_longest(case, address)
        if route is not None and result in ENDS.get(route.type, frozenset()):
            sure = (route.type, result) in OWN_ERRORS
            yield _report(route, str(address), span, sure=sure and _is_alone(case, span))
            return
    for complaint in list_failing(case):
        route = _find_for_services(case, complaint)
        if route is not None:
            pods_work = any(one.works and one.source is EndKind.POD for one in case.complaints)
            yield _report(route, "services", complaint.span, sure=pods_work)
            return


def _list_missed(case: Case) -> Iterator[tuple[Address, Result | None, Span]]:
    """Yield the addresses that are not reached and that no walk starts for."""
    for lost in case.unplaced:
        if lost.dst is not None:
            yield lost.dst, lost.result, lost.span
    for one in list_failing(case):
        for address in one.addresses:
            if address not in one.sources:
                yield address, one.failure, one.span


def _find_longest(case: Case, address: Address) -> Route | None:
    """Return the route that takes an address, where a whole list of the host shows it."""
    host = case.node.host
    if address.family not in host.routed or host.holds(address):
        return None
    fitting = [
        one
        for one in host.routes.items
        if one.table == MAIN and one.span is not None and one.prefix.covers(address)
    ]
    return _take_best(fitting)


def _find_for_services(case: Case, complaint: Complaint) -> Route | None:
    """Return a dead end that takes the whole range of services, where the host itself is said not
    to reach any.
    """
    if complaint.target is not EndKind.SERVICE or complaint.source is not EndKind.NODE:
        return None
    told = find_said(case, MessageKind.RANGE_WANTED)
    wanted = [one.values["prefix"] for one in told if one.values.get("what") in SERVICE_RANGES]
    ranges = [prefix for prefix in map(read_prefix, wanted) if prefix is not None]
    fitting = [
        one
        for one in case.node.host.routes.items
        if one.table == MAIN and one.span is not None and any(map(one.prefix.covers, ranges))
    ]
    taken = _take_best(fitting)
    return taken if taken is not None and taken.type in ENDS else None


def _take_best(routes: list[Route]) -> Route | None:
    """Return the route of several for one destination that the kernel takes."""
    return max(routes, key=lambda one: (one.prefix.length, -one.metric), default=None)


def _is_alone(case: Case, span: Span) -> bool:
    """Tell whether nothing shows a second machine, or that another table than main is asked: no
    other namespace has routes, and no rule leads to a table of somebody's own.
    """
    listed = [one for one in case.node.namespaces.values() if one.routed]
    led = any(rule.table not in TABLES.values() for rule in case.node.host.rules.items)
    return len(listed) == 1 and span.source.prompt is None and not led


def _report(route: Route, whom: str, said: Span, *, sure: bool) -> Finding:
    by = f" (of {route.protocol})" if route.protocol else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"What this host sends to {whom} ends at its route {route.type} {route.prefix}{by}."
        ),
        evidence=tuple(span for span in (route.span, said) if span is not None),
        reasoning=("It is the longest matching route, and the lookup ends there.",),
        breaks=(f"what this host sends to {route.prefix}",),
        prevention="Watch for such routes (ip route show type unreachable).",
        certainty=1.0 if sure else LIKELY,
        marks=(route.type, str(route.prefix)),
        asks=()
        if sure
        else (
            FollowUp(
                "whether the routes are those of the machine that sends",
                "ip route get ADDRESS   # on the machine that does not reach it",
                f"it answers with {route.type}: this is the cause",
            ),
        ),
    )
