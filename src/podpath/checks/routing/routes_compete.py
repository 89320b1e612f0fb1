"""routes-compete: two routes with the same prefix and metric compete, and the kernel uses the
first.

What it is
    `ip route` or `route -n` lists two routes for the same destination in one table, with the same
    metric and different next hops: two default routes over two cards, or the route of a connected
    network and one that leads to the same network through a gateway.

Why it breaks
    The kernel uses the one that it lists first. If that is the default route of a card without a
    way to the Internet, or goes through a gateway that does not forward, everything that should
    take the other one is lost. Which one comes first depends on the order in which the devices came
    up.

How to confirm
    ip route show; ip route get 8.8.8.8; ip route get ADDRESS

How to fix
    Remove the route that should not be there, or give it a higher metric: no gateway for the second
    card (gateway4, GATEWAY, ipv4.never-default), or tables of its own with policy rules.

References
    net/ipv4/fib_trie.c:fib_table_insert v6.12; ip-route(8), append and metric
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.told import LOSSES, list_failing, list_failing_addresses
from podpath.checks.topology import only_default_rules
from podpath.net.complaints import Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.node.case import Case
from podpath.node.routing import MAIN, Route

CATEGORIES = (Category.WRONG_ROUTE, Category.OVERLAPPING_RANGES)
NAME = "routes-compete"
POSSIBLE, OUTRANKED = 0.6, 0.5
_LOST = frozenset({None, *LOSSES, FailureKind.NETWORK_UNREACHABLE, FailureKind.NO_ROUTE_TO_HOST})


_SINCE = re.compile(
    r"\b(?:since|after|when|once|as soon as)\b[^.;:]*\b(?:second|card|nic|interface|eth\d|"
    r"en[opsx]\w+|wlan\d|added|connect\w*|plug\w*|configur\w*|set up|enabl\w*|"
    r"(?:comes?|came|brought) up)\b",
    re.IGNORECASE,
)
"""What says that it fails since a card was set up, and not that a card fails."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first pair of routes that compete, where something that they carry fails."""
    host = case.node.host
    shown = [one for one in host.routes.items if _is_plain(one)]
    lost = [one for one in list_failing(case) if one.failure in _LOST]
    if not lost or not only_default_rules(host):
        return
    for first, second in combinations(shown, 2):
        if _compete(first, second):
            yield _report(first, second, sure=_is_meant(case, lost, first, second))
            return
    yield from _find_outranked(shown, lost)


def _find_outranked(shown: list[Route], lost: list[Complaint]) -> Iterator[Finding]:
    """Report a default route that a lower metric puts before that of another card, where nothing
    outside is reached, and people name its card or it is a wireless one beside a cable. Which of
    the two leads there, nothing states.
    """
    defaults = [one for one in shown if one.prefix.length == 0 and one.prefix.family == 4]
    ordered = sorted(defaults, key=lambda one: one.metric or 0)
    links = {one.nexthops[0].link for one in ordered}
    if len(links) > 1 and any(one.target is EndKind.OUTSIDE for one in lost):
        first = ordered[0]
        second = next(one for one in ordered if one.nexthops[0].link != first.nexthops[0].link)
        name = str(first.nexthops[0].link)
        blamed = any(name in one.words | one.spoken for one in lost)
        wireless = name.startswith("wl") and not str(second.nexthops[0].link).startswith("wl")
        told = (blamed or wireless) and _are_of_one_output(first, second)
        if first.metric == second.metric or not told:
            return
        yield replace(
            _report(first, second, sure=False),
            claim=(
                f"There are two default routes: {first.nexthops[0].link}, by its lower metric, is "
                f"used for everything, and {second.nexthops[0].link} for nothing."
            ),
            reasoning=("Of routes with the same prefix, the one with the lowest metric counts.",),
            certainty=OUTRANKED,
        )


def _is_plain(route: Route) -> bool:
    return (
        route.table == MAIN
        and route.type == "unicast"
        and route.span is not None
        and route.inferred is None
        and not route.unread
        and len(route.nexthops) == 1
        and not route.tos
    )


def _compete(first: Route, second: Route) -> bool:
    """Tell whether two routes of one listing are for one prefix by one metric, with different next
    hops.
    """
    same = first.prefix == second.prefix and first.metric == second.metric
    if not same or first.prefix.family != 4 or not _are_of_one_output(first, second):
        return False
    one, other = first.nexthops[0], second.nexthops[0]
    if first.prefix.length == 0:
        apart = one.gateway != other.gateway or _have_own_sources(first, second)
        return one.link != other.link and apart
    return (one.gateway is None) != (other.gateway is None)


def _are_of_one_output(first: Route, second: Route) -> bool:
    """Tell whether one output lists both: two may be of two hosts, or of two moments."""
    return (
        first.span is not None
        and second.span is not None
        and first.span.source is second.span.source
    )


def _have_own_sources(first: Route, second: Route) -> bool:
    """Tell whether each of two routes by one gateway says an address of its own: two cards in one
    network, of which one alone is used.
    """
    return first.prefsrc is not None and second.prefsrc not in {None, first.prefsrc}


def _is_meant(case: Case, lost: list[Complaint], first: Route, second: Route) -> bool:
    """Tell whether people say that what the two carry fails: what leaves, in a sentence about the
    device of the first, or an address of their network.
    """
    if first.prefix.length == 0:
        leaving = [one for one in lost if one.target is EndKind.OUTSIDE]
        blamed = [one for one in leaving if _SINCE.search(one.span.text)]
        spoken = {word for one in blamed for word in one.words | one.spoken}
        return str(first.nexthops[0].link) in spoken
    if first.nexthops[0].gateway is None:
        return False
    failing = list_failing_addresses(case)
    named = {prefix for one in lost for prefix in one.prefixes}
    return second.prefix in named or any(second.prefix.covers(one) for one in failing)


def _report(first: Route, second: Route, *, sure: bool) -> Finding:
    device = first.nexthops[0].link or "the device of the first"
    spans = tuple(span for span in (first.span, second.span) if span is not None)
    name = "default routes" if first.prefix.length == 0 else f"routes to {first.prefix}"
    ask = FollowUp(
        "which of the two leads to the destination that fails",
        "ip route get ADDRESS; ip route show; tcpdump -ni any host ADDRESS",
        "packets leave through the first, and only the second leads there: remove the first",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"There are two {name} with the same metric: the kernel uses the first one, through "
            f"{device}."
        ),
        evidence=spans,
        reasoning=("Of routes with the same prefix and metric, the first one counts.",),
        breaks=("everything that should take the other route",),
        repairs=(Repair(title="remove the wrong route, or give it a higher metric", commands=()),),
        prevention="Configure a gateway on one card only, or give each default route its metric.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ask,),
        marks=(str(device),),
    )
