"""second-card-unanswered: requests that come in by the host's second card are answered through the
first one's default route.

What it is
    A host has addresses on two cards in different networks, one default route, and no policy rule
    for the second card's address. What comes in by the second card from beyond its network fails,
    while the same works by the first card.

Why it breaks
    The kernel looks the way back up by the destination alone: the answer takes the default route of
    the first card, with the second one's address as its source. The provider or router there drops
    it, or a strict rp_filter drops the request. DNAT to a container does not change that: the
    answer is routed before its source is translated back. So a rule for the card's own address
    (`from ADDRESS lookup TABLE`) serves the host's programs, and no container's answers.

How to confirm
    ip rule; ip route get CLIENT from ADDRESS; tcpdump -ni any host CLIENT

How to fix
    Give the second card a table of its own: ip route add default via GATEWAY dev DEVICE table 100;
    ip rule add from ADDRESS lookup 100. For what is forwarded to containers, mark the connections
    that come in by it (CONNMARK), and add ip rule add fwmark 1 lookup 100.

References
    ip-rule(8); ip_route_input_slow (net/ipv4/route.c v6.12); LARTC, "Routing for multiple uplinks"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import spans_of
from podpath.checks.told import LOSSES, list_failing
from podpath.net.addresses import WIDTH, Address, Prefix
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.node import Netns
from podpath.node.routing import MAIN, PolicyRule, Route

CATEGORIES = (Category.POLICY_ROUTING, Category.SOURCE_ADDRESS, Category.WRONG_ROUTE)
NAME = "second-card-unanswered"
NAMED, PUBLISHED, POSSIBLE = 0.8, 0.7, 0.6
_CARD = re.compile(r"(?:eth\d|en[opsx]\w|bond\d|wl\w|em\d|p\d+p\d)[\w.]*")
_SENDERS = frozenset({None, EndKind.OUTSIDE})
_TARGETS = frozenset({
    None, EndKind.NODE, EndKind.NODE_PORT, EndKind.CONTAINER, EndKind.POD, EndKind.SERVICE,
    EndKind.LOAD_BALANCER, EndKind.OUTSIDE, EndKind.GUEST,
})  # fmt: skip
_FROM = re.compile(r"\bfrom (?:\w+ )?(?:other|another|outside|beyond)\b", re.IGNORECASE)
"""Says of the host itself that it is asked from elsewhere."""
_OTHER_CARD = re.compile(
    r"\b(?:other|second|2nd|secondary|additional) (?:network |public )?(?:card|nic|interface|"
    r"address|ip|eni|uplink)(?:'s|s)?\b",
    re.IGNORECASE,
)


class _CardAddress(NamedTuple):
    """What is known of a card: its network, and its address where an output shows it."""

    link: str
    prefix: Prefix
    address: Address | None
    span: Span


class _SecondCard(NamedTuple):
    own: _CardAddress
    default: Route
    """The way out that is used: by the first card."""
    idle: Route | None
    """The default route by its own device, which a greater metric keeps from use."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first card that has no way back of its own, and by which people say it fails."""
    host = case.node.host
    cards = list(_list_second_cards(host))
    for complaint in list_failing(case):
        lost = complaint.failure in {None, *LOSSES}
        if not lost or complaint.target not in _TARGETS:
            continue
        for card in cards:
            asked = card.own.address in complaint.addresses
            if complaint.source not in _SENDERS and not (
                asked and _FROM.search(complaint.span.text)
            ):
                continue
            if _is_meant(case, complaint, card, alone=len(cards) == 1):
                near = any(_works_near(one, card) for one in case.complaints)
                yield _report(complaint, card, named=_is_named(complaint, card), near=near)
                return
    yield from _find_published(case)


def _find_published(case: Case) -> Iterator[Finding]:
    """Report the first rule for an address of the host alone where what a container publishes gets
    no answer at that address.
    """
    rules = [one for one in case.node.host.rules.items if one.span is not None]
    if any(one.mark is not None or one.iif is not None for one in rules):
        return  # what marks connections, or knows them by their bridge, may lead answers back
    for rule in rules:
        src = rule.src
        single = src is not None and src.length == WIDTH[src.family] and _is_own(rule)
        for complaint in list_failing(case) if single and not rule.negated else ():
            asked = src is not None and src.address in complaint.addresses
            lost = complaint.failure in {None, *LOSSES} and not complaint.sources
            published = Circumstance.PUBLISHES in complaint.circumstances
            inner = {complaint.source, complaint.target} & {EndKind.CONTAINER, EndKind.GUEST}
            if asked and lost and (published or inner) and not _covers_inner(rules):
                yield _report_published(complaint, rule)
                return


def _covers_inner(rules: Sequence[PolicyRule]) -> bool:
    """Tell whether a rule is for what a whole network sends: it may be that of containers."""
    own = (one.src for one in rules if _is_own(one))
    return any(src is not None and src.length < WIDTH[src.family] for src in own)


def _is_own(rule: PolicyRule) -> bool:
    """Tell whether a rule looks up a table that somebody made."""
    return rule.table not in range(MAIN - 1, MAIN + 2)


def _report_published(complaint: Complaint, rule: PolicyRule) -> Finding:
    address = rule.src.address if rule.src is not None else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The rule for {address} serves what the host itself sends: a container's answers are "
            "looked up with the container's own address, so they take the main table's default "
            "route."
        ),
        evidence=(*spans_of((rule,)), complaint.span),
        reasoning=("The source of an answer is translated back after its route is looked up.",),
        breaks=(f"what is published at {address} and asked for from other networks",),
        prevention="Mark the connections of each uplink (CONNMARK), and route answers by the mark.",
        certainty=PUBLISHED,
        marks=(str(address),),
        asks=(
            FollowUp(
                "by which device the container's answers leave",
                "ip route get CLIENT from CONTAINER iif BRIDGE; tcpdump -ni any host CLIENT",
                "by the other uplink: give the container's range a rule, or mark connections",
            ),
        ),
    )


def _list_second_cards(host: Netns) -> Iterator[_SecondCard]:
    """Yield the addresses of cards by which no default route leads that is used, and that no rule
    is for.
    """
    routes = [one for one in host.routes.items if one.span is not None and one.table == MAIN]
    defaults = [
        one for one in routes if one.prefix.length == 0 and one.prefix.family == 4 and one.nexthops
    ]
    best = min((one.metric or 0 for one in defaults), default=0)
    winners = [one for one in defaults if (one.metric or 0) == best]
    first = {hop.link for one in winners for hop in one.nexthops}
    if len(first) != 1 or not all(hop.gateway for one in winners for hop in one.nexthops):
        return
    rules = [one for one in host.rules.items if one.span is not None]
    cards = _list_addresses(host) or _list_networks(routes)
    held = [one for one in cards if one.link in first]
    for card in cards:
        other = card.link not in first and _CARD.fullmatch(card.link) is not None
        apart = not any(one.prefix.overlaps(card.prefix) for one in held)
        if other and apart and held and not _is_ruled(rules, card):
            beside = [one for one in defaults if card.link in _list_links(one)]
            yield _SecondCard(card, winners[0], next(iter(beside), None))


def _list_links(route: Route) -> frozenset[str | None]:
    return frozenset(hop.link for hop in route.nexthops)


def _list_addresses(host: Netns) -> list[_CardAddress]:
    """Return the addresses that outputs show."""
    return [
        _CardAddress(str(item.link), item.prefix, item.address, item.span)
        for item in host.addresses.items
        if item.address.family == 4 and item.span is not None and item.length < 32
    ]


def _list_networks(routes: Sequence[Route]) -> list[_CardAddress]:
    """Return the networks of cards where no output shows an address, as of `route -n`."""
    return [
        _CardAddress(str(one.nexthops[0].link), one.prefix, None, one.span)
        for one in routes
        if one.prefix.family == 4
        and one.prefix.length
        and one.span is not None
        and len(one.nexthops) == 1
        and one.nexthops[0].gateway is None
    ]


def _is_ruled(rules: Sequence[PolicyRule], card: _CardAddress) -> bool:
    """Tell whether a rule may lead what the address sends elsewhere than main does."""
    return any(
        rule.mark is not None
        or rule.iif == card.link
        or (rule.src is not None and rule.src.overlaps(card.prefix))
        for rule in rules
    )


def _is_named(complaint: Complaint, card: _SecondCard) -> bool:
    words = complaint.words | complaint.spoken
    own = card.own
    held = any(own.address in {one, None} and own.prefix.covers(one) for one in complaint.addresses)
    return held or own.link in words


def _works_near(complaint: Complaint, card: _SecondCard) -> bool:
    """Tell whether people say that who is in the card's own network is answered."""
    prefix = card.own.prefix
    near = any(one == prefix for one in complaint.prefixes) or any(
        prefix.covers(one) and one != card.own.address for one in complaint.addresses
    )
    return complaint.works and near


def _is_meant(case: Case, complaint: Complaint, card: _SecondCard, *, alone: bool) -> bool:
    """Tell whether people say that what fails comes in by the card."""
    spoken = _OTHER_CARD.search(complaint.span.text) is not None
    several = Technology.SECOND_INTERFACE in case.mentions
    return _is_named(complaint, card) or (alone and several and spoken)


def _report(complaint: Complaint, card: _SecondCard, *, named: bool, near: bool) -> Finding:
    device, address = card.own.link, card.own.address or f"an address of {card.own.prefix}"
    way = card.default.nexthops[0].link
    which = "only default route" if card.idle is None else "default route with the lower metric"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Requests to {address} that come in through {device} from other networks are answered "
            f"through {way}: the {which} leads there, and no rule covers that address."
        ),
        evidence=(*spans_of((card.default, card.idle or card.own)), complaint.span),
        reasoning=("The way back is looked up by destination alone.",),
        breaks=(f"connections from beyond {card.own.prefix} that come in through {device}",),
        prevention="Give each card that is reached from outside a table and a rule of its own.",
        certainty=NAMED if named else POSSIBLE,
        proves=LOSSES if named and near else frozenset(),
        marks=(str(way), str(address)),
        asks=(
            FollowUp(
                f"through which device answers from {address} leave",
                f"ip rule; ip route get CLIENT from {address}; tcpdump -ni any host CLIENT",
                f"through {way}: the second card needs a table and a rule of its own",
            ),
        ),
    )
