"""route-refused: the kernel answers a route lookup with an error or a dead end.

What it is
    Somebody ran `ip route get ADDRESS`, and the kernel answered `Network is unreachable`, `No
    route to host`, `Invalid cross-device link`, or a route of type unreachable, blackhole or
    prohibit.

Why it breaks
    The answer takes every rule and table into account: the kernel treats the packet exactly as it
    answers here. `Invalid cross-device link` (asked with from and iif) is the reverse-path filter's
    answer, `Invalid argument` means that the source may not come in there.

How to confirm
    ip route get ADDRESS
    ip rule; ip route show table all

How to fix
    Give the destination a route (ip route add PREFIX via GATEWAY dev DEVICE), or delete the route
    of type unreachable. For the reverse-path filter see rp-filter.

References
    fib_lookup, ip_route_output_key_hash_rcu, ip_route_input_slow (net/ipv4/route.c v6.12);
    ip-route(8)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.stated import statements_of
from podpath.net.addresses import Address
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.statements import ConfiguredDevice, RouteAnswer
from podpath.node.case import Case, Stated
from podpath.node.routing import Route

CATEGORIES = (
    Category.NO_ROUTE,
    Category.POLICY_ROUTING,
    Category.REVERSE_PATH_FILTER,
    Category.WRONG_ROUTE,
)
NAME = "route-refused"


DEAD_ENDS = ("unreachable", "blackhole", "prohibit")
FILTERED = "Invalid cross-device link"
CONFIGURED = 0.6
"""The certainty where the host's configuration names a gateway: what keeps that route from being
set is the cause, and the kernel's answer its effect.
"""
_WHY_NOT_SET = FollowUp(
    "why the configured gateway is not set as a route",
    "journalctl -u systemd-networkd -u NetworkManager -u networking -b; networkctl status; ip addr",
    "a gateway outside the address's prefix needs GatewayOnLink=yes (netplan: on-link: true); a "
    "device that is down or still configuring gets no route; otherwise nothing applied the file",
)
_GATEWAY = re.compile(r"^\s*(?:-\s+)?(?:Gateway|GATEWAY\d?|gateway[46]?|via)\s*[=:]", re.MULTILINE)
"""A line of networkd, ifcfg or netplan that names a gateway."""
_WHERE = FollowUp(
    "which way the packet takes in the namespace that sends it",
    "ip netns exec NAME ip route get DESTINATION (or nsenter -t PID -n); ip route get DESTINATION "
    "from SOURCE iif DEVICE (for what is forwarded)",
    "an error there, too: a route is missing; otherwise it is lost later",
)
MISPLACED = 0.4
"""The certainty where the source is connected to another device than the question names."""
NO_WAY = ("Network is unreachable", "No route to host", "Network unreachable")


def check(case: Case) -> Iterator[Finding]:
    """Report each address that the kernel knows no way to."""
    wanted = list(_list_gateways(case))
    for answer, stated in statements_of(case, RouteAnswer):
        claim = _tell(answer, stated.netns)
        if claim is None:
            continue
        elsewhere = _find_elsewhere(case, answer, stated)
        if elsewhere is not None:
            yield _report_misplaced(answer, stated, elsewhere)
            continue
        missing = answer.error in NO_WAY and bool(wanted)
        foreign = answer.error in NO_WAY and _is_asked_for_another(case, answer, stated)
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=claim,
            evidence=(stated.span, *(wanted if missing else ())),
            reasoning=(
                "It is the kernel's own answer, which takes all rules and tables into account.",
            ),
            breaks=(f"packets to {_name(answer)}",),
            prevention=(
                "Keep the route in the host's network configuration so that it survives a restart."
            ),
            certainty=CONFIGURED if missing or foreign else 1.0,
            asks=_list_asks(foreign=foreign, missing=missing),
            marks=(answer.error or answer.type,),
        )


def _list_asks(*, foreign: bool, missing: bool) -> tuple[FollowUp, ...]:
    if foreign:
        return (_WHERE,)
    return (_WHY_NOT_SET,) if missing else ()


def _is_asked_for_another(case: Case, answer: RouteAnswer, stated: Stated) -> bool:
    """Tell whether the question was put where the source is not known to be: the kernel has no way
    for a source that is not its own, whatever its routes are (ip_route_output_key_hash_rcu,
    net/ipv4/route.c v6.12); or whether the same was answered elsewhere.
    """
    netns = case.node.namespaces.get(stated.netns)
    asked = answer.src if answer.iif is None else None
    stranger = asked is not None and (netns is None or not netns.holds(asked))
    answered = any(
        other.dst == answer.dst and not other.error and place.netns != stated.netns
        for other, place in statements_of(case, RouteAnswer)
    )
    return stranger or answered


def _find_elsewhere(case: Case, answer: RouteAnswer, stated: Stated) -> Route | None:
    """Return the route that connects the source of a filtered packet to another device than the
    question names; None where something shows that its packets do come in there.
    """
    netns = case.node.namespaces.get(stated.netns)
    if answer.error != FILTERED or answer.src is None or netns is None:
        return None
    connected = [route for route in netns.routes.items if _connects(route, answer.src)]
    links = {hop.link for route in connected for hop in route.nexthops}
    if not connected or answer.iif in links or _comes_in(case, answer):
        return None
    return max(connected, key=lambda route: route.prefix.length)


def _connects(route: Route, src: Address) -> bool:
    """Tell whether a route connects the source's network to a device, without a gateway."""
    return (
        route.prefix.covers(src)
        and route.prefix.length > 0
        and route.type == "unicast"
        and bool(route.nexthops)
        and all(hop.gateway is None and hop.link for hop in route.nexthops)
    )


def _comes_in(case: Case, answer: RouteAnswer) -> bool:
    """Tell whether a capture or the kernel's log shows packets of the source on the device."""
    captured = any(
        one.packet.src == answer.src and one.link == answer.iif and one.direction != "out"
        for one in case.sightings
    )
    logged = any(
        (one.values["src"], one.values["device"]) == (str(answer.src), answer.iif)
        for one in find_said(case, MessageKind.MARTIAN_SOURCE)
    )
    return captured or logged


def _report_misplaced(answer: RouteAnswer, stated: Stated, route: Route) -> Finding:
    """Report a question that was asked for another device than the source's packets come in on."""
    link = route.nexthops[0].link
    shown = (route.span,) if route.span is not None else ()
    return Finding(
        check=NAME,
        severity=Severity.RISK,
        claim=(
            f"The kernel was asked about {answer.src} coming in on {answer.iif}, but "
            f"{route.prefix} is connected to {link}: its refusal may say nothing of real packets."
        ),
        evidence=(stated.span, *shown),
        reasoning=("The answer holds for the device that was asked about, and for no other.",),
        breaks=(f"packets from {answer.src}, if they come in on {answer.iif}",),
        prevention="Ask with iif of the device that the packets come in on.",
        certainty=MISPLACED,
        asks=(
            FollowUp(
                f"whether the kernel accepts packets from {answer.src} on {link}",
                f"ip route get {answer.dst or 'DESTINATION'} from {answer.src} iif {link}; "
                f"tcpdump -ni {answer.iif} host {answer.src}",
                f"an error there, too, or packets that do come in on {answer.iif}: they are "
                "dropped; otherwise they are lost later",
            ),
        ),
    )


def _list_gateways(case: Case) -> Iterator[Span]:
    """Yield where the host's configuration names a gateway, as it was read or not."""
    for device, stated in statements_of(case, ConfiguredDevice):
        if device.gateway:
            yield stated.span
    for gap in case.gaps:
        if _GATEWAY.search(gap.span.text):
            yield gap.span


def _name(answer: RouteAnswer) -> str:
    return str(answer.dst) if answer.dst is not None else "the address that was asked for"


def _tell(answer: RouteAnswer, netns: str) -> str | None:
    """Say what the kernel of a namespace answers; None where it names a way."""
    kernel = "The kernel" if netns == "host" else f"The kernel in netns {netns}"
    if answer.error == FILTERED:
        return (
            f"{kernel} refuses packets from {answer.src} on {answer.iif}: the route back uses "
            "another device (rp_filter)."
        )
    if answer.error in NO_WAY:
        return f"{kernel} has no route to {_name(answer)}: it answers {answer.error!r}."
    if answer.type in DEAD_ENDS:
        return f"{kernel} has a route of type {answer.type} to {_name(answer)}."
    return None
