"""second-card-unanswered: what asks by the host's second card is answered by the first one's
default route.

What it is
    A host has addresses on two cards in different networks, one default route, and no policy rule
    for the second card's address. What comes in by the second card from beyond its network fails,
    while the same works by the first card.

Why it breaks
    The kernel looks the way back up by the destination alone: the answer takes the default route of
    the first card, with the second one's address as its source. The provider or router there drops
    it, or a strict rp_filter drops the request. DNAT to a container changes nothing of that: the
    answer is routed before its source is translated back.

How to confirm
    ip rule; ip route get CLIENT from ADDRESS; tcpdump -ni any host CLIENT

How to fix
    Give the second card a table of its own: ip route add default via GATEWAY dev DEVICE table 100;
    ip rule add from ADDRESS lookup 100. For what is forwarded to containers mark the connections
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
from podpath.net.complaints import Complaint, EndKind
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.links import InterfaceAddress
from podpath.node.node import Netns
from podpath.node.routing import MAIN, PolicyRule, Route

CATEGORIES = (Category.POLICY_ROUTING, Category.SOURCE_ADDRESS, Category.WRONG_ROUTE)
NAME = "second-card-unanswered"
NAMED, POSSIBLE = 0.8, 0.6
_CARD = re.compile(r"(?:eth\d|en[opsx]\w|bond\d|wl\w|em\d|p\d+p\d)[\w.]*")
_SENDERS = frozenset({None, EndKind.OUTSIDE})
_TARGETS = frozenset({
    None, EndKind.NODE, EndKind.NODE_PORT, EndKind.CONTAINER, EndKind.POD, EndKind.SERVICE,
    EndKind.LOAD_BALANCER, EndKind.OUTSIDE, EndKind.GUEST,
})  # fmt: skip
_OTHER_CARD = re.compile(
    r"\b(?:other|second|2nd|secondary|additional) (?:network |public )?(?:card|nic|interface|"
    r"address|ip|eni|uplink)(?:'s|s)?\b",
    re.IGNORECASE,
)


class _SecondCard(NamedTuple):
    own: InterfaceAddress
    default: Route
    """The only way out: by the first card."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first card that has no way back of its own, and by which people say it fails."""
    host = case.node.host
    cards = list(_list_second_cards(host))
    for complaint in list_failing(case):
        lost = complaint.failure in {None, *LOSSES} and complaint.source in _SENDERS
        if not lost or complaint.target not in _TARGETS:
            continue
        for card in cards:
            if _is_meant(case, complaint, card, alone=len(cards) == 1):
                yield _report(complaint, card, named=_is_named(complaint, card))
                return


def _list_second_cards(host: Netns) -> Iterator[_SecondCard]:
    """Yield the addresses of cards by which no default route leads, and that no rule is for."""
    routes = [one for one in host.routes.items if one.span is not None and one.table == MAIN]
    defaults = [
        one for one in routes if one.prefix.length == 0 and one.prefix.family == 4 and one.nexthops
    ]
    first = {hop.link for one in defaults for hop in one.nexthops}
    if len(first) != 1 or not all(hop.gateway for one in defaults for hop in one.nexthops):
        return
    rules = [one for one in host.rules.items if one.span is not None]
    held = [
        item for item in host.addresses.items if item.link in first and item.address.family == 4
    ]
    for item in host.addresses.items:
        usable = item.address.family == 4 and item.span is not None and item.length < 32
        other = item.link not in first and _CARD.fullmatch(item.link) is not None
        apart = not any(one.prefix.covers(item.address) for one in held)
        if usable and other and apart and held and not _is_ruled(rules, item):
            yield _SecondCard(item, defaults[0])


def _is_ruled(rules: Sequence[PolicyRule], item: InterfaceAddress) -> bool:
    """Tell whether a rule may lead what the address sends elsewhere than main does."""
    return any(
        rule.mark is not None
        or rule.iif == item.link
        or (rule.src is not None and rule.src.covers(item.address))
        for rule in rules
    )


def _is_named(complaint: Complaint, card: _SecondCard) -> bool:
    words = complaint.words | complaint.spoken
    return card.own.address in complaint.addresses or str(card.own.link) in words


def _is_meant(case: Case, complaint: Complaint, card: _SecondCard, *, alone: bool) -> bool:
    """Tell whether people say that what fails comes in by the card."""
    spoken = _OTHER_CARD.search(complaint.span.text) is not None
    several = Technology.SECOND_INTERFACE in case.mentions
    return _is_named(complaint, card) or (alone and several and spoken)


def _report(complaint: Complaint, card: _SecondCard, *, named: bool) -> Finding:
    device, address = card.own.link, card.own.address
    way = card.default.nexthops[0].link
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"What asks {address} by {device} from beyond its network is answered by {way}: the "
            "only default route leads there, and no rule is for that address."
        ),
        evidence=(*spans_of((card.default, card.own)), complaint.span),
        reasoning=("The way back is looked up by the destination alone.",),
        breaks=(f"connections from beyond {card.own.prefix} that come in by {device}",),
        prevention="Give each card that is asked from outside a table and a rule of its own.",
        certainty=NAMED if named else POSSIBLE,
        marks=(str(way), str(address)),
        asks=(
            FollowUp(
                f"by which device answers from {address} leave",
                f"ip rule; ip route get CLIENT from {address}; tcpdump -ni any host CLIENT",
                f"by {way}: the second card needs a table and a rule of its own",
            ),
        ),
    )
