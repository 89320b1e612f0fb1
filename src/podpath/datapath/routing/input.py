"""Input routing: is a packet that came in for this host, to be forwarded, or to be refused
(`ip_route_input_slow`).

Used for packets, for ARP requests (a host answers only what it could route) and for frames that a
bridge translated.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from podpath.datapath.netns.fib import FibResult, FlowKey, explain_error
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons import routes
from podpath.datapath.reasons.routes import InputReason
from podpath.datapath.routing.assumed import look_up
from podpath.datapath.routing.destinations import destination_of, select_path
from podpath.datapath.routing.validation import PASSED, SourceCheck, check_source
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.vocabulary import DropCause
from podpath.datapath.walk import settings
from podpath.net.provenance import Span
from podpath.net.watched import is_any_watched
from podpath.node.links import Link

FUNCTION = "net/ipv4/route.c:ip_route_input_slow v6.12"
LIMITED_BROADCAST = 0xFFFFFFFF

ICMP_ANSWERS = {
    "EHOSTUNREACH": "icmp-host-unreachable",
    "ENETUNREACH": "icmp-net-unreachable",
    "EACCES": "icmp-pkt-filtered",
}
"""What `ip_error` sends for a lookup's error; nothing for the others (`net/ipv4/route.c:ip_error
v6.12`).
"""


ICMPV6_ANSWERS = {
    "EHOSTUNREACH": "icmp-net-unreachable",
    "ENETUNREACH": "icmp-net-unreachable",
    "EACCES": "icmp-pkt-filtered",
}
"""What `ip6_pkt_discard` and `ip6_pkt_prohibit` send, whether the namespace forwards or not
(net/ipv6/route.c, seen on 6.18).
"""


class InputPath(StrEnum):
    """How a packet that came in goes on."""

    LOCAL = "local"
    FORWARD = "forward"


class InputRoute(NamedTuple):
    """What input routing decided."""

    path: InputPath | None = None
    """None where the packet ends."""
    destination: Destination | None = None
    cause: DropCause | None = None
    """Why it ends; None where it does not."""
    answer: str = ""
    """The ICMP error that its sender gets, as `--reject-with` spells it; empty for silence."""
    reason: InputReason | None = None
    """None where it goes on, or where source validation has the reason."""
    spans: tuple[Span, ...] = ()
    found: FibResult | None = None
    check: SourceCheck = PASSED
    """What source validation said; its cause stands in `cause` too."""


_REMEMBERED = 1 << 15
"""Decisions kept; a conversation asks for the same two again and again."""


def route_input(choices: Choices, namespace: Namespace, flow: FlowKey, link: Link) -> InputRoute:
    """Route a packet that came in on a device."""
    if is_any_watched(flow.dst, flow.src):
        return _route(choices, namespace, flow, link)
    decisions: dict[object, InputRoute] = namespace.decisions
    key: object = flow
    if not namespace.routing(flow.dst.family).custom:
        key = (flow.dst, flow.src, link.name, flow.tos)
    decided = decisions.get(key)
    if decided is None:
        asked = choices.asked
        decided = _route(choices, namespace, flow, link)
        if choices.asked == asked:
            if len(decisions) >= _REMEMBERED:
                decisions.clear()
            decisions[key] = decided
    return decided


def _route(choices: Choices, namespace: Namespace, flow: FlowKey, link: Link) -> InputRoute:
    family = flow.dst.family
    refused = _martian(choices, namespace, flow, link) if family == 4 else None
    if refused is not None:
        return refused
    if family == 6 and flow.dst.is_loopback and link.name != "lo":
        return _loopback_elsewhere(flow, link)
    if family == 4 and (flow.dst.value == LIMITED_BROADCAST):
        return InputRoute(
            InputPath.LOCAL, _broadcast(namespace), reason=routes.LimitedBroadcast(flow.dst)
        )
    found = look_up(choices, namespace, flow)
    if found.error:
        return _no_route(choices, namespace, flow, link, found)
    kind = found.type
    if kind == "broadcast" and not settings.either(
        choices, namespace, settings.BC_FORWARDING, link.name
    ):
        return _deliver(choices, namespace, flow, link, found)
    if kind in {"local", "anycast"}:
        return _deliver(choices, namespace, flow, link, found)
    if not may_forward(choices, namespace, link, family):
        reason = routes.ForwardingOff(namespace.name, link.name)
        spans = (*settings.forwarding_spans(namespace, link.name, family), *found.spans)
        off = InputRoute(cause=DropCause.FORWARDING_OFF, reason=reason, spans=spans)
        if family == 4 or kind != "unicast":
            return off
        way = _forward(choices, namespace, flow, link, found)
        return way._replace(cause=off.cause, reason=reason, spans=spans)
    if kind not in {"unicast", "broadcast"}:
        return _invalid_destination(routes.DestinationOfType(flow.dst, kind), found)
    return _forward(choices, namespace, flow, link, found)


def may_forward(choices: Choices, namespace: Namespace, link: Link, family: int) -> bool:
    """Tell whether packets from a device are forwarded: IPv4 asks the device's own value, IPv6 the
    one of `all`.
    """
    if family == 4:
        return settings.forwarding(choices, namespace, link.name)
    return bool(settings.integer(choices.resolve(settings.forwarding6(namespace))))


def _forward(
    choices: Choices, namespace: Namespace, flow: FlowKey, link: Link, found: FibResult
) -> InputRoute:
    destination = select_path(choices, namespace, found, flow.src, flow.dst)
    if flow.dst.family == 4:
        check = check_source(choices, namespace, flow, link, destination.link)
    else:
        check = PASSED
    if check.cause:
        return InputRoute(cause=check.cause, spans=check.spans, found=found, check=check)
    return InputRoute(InputPath.FORWARD, destination, found=found, spans=found.spans, check=check)


def _deliver(
    choices: Choices, namespace: Namespace, flow: FlowKey, link: Link, found: FibResult
) -> InputRoute:
    check = PASSED
    if flow.dst.family == 4 and not (flow.src is not None and flow.src.is_unspecified):
        check = check_source(choices, namespace, flow, link, None)
    if check.cause:
        return InputRoute(cause=check.cause, spans=check.spans, found=found, check=check)
    if found.nexthops:
        destination = destination_of(namespace, found, found.nexthops[0])
    else:
        destination = _broadcast(namespace)
    reason = routes.LocalAddress(flow.dst, namespace.name, found.type)
    return InputRoute(
        InputPath.LOCAL, destination, reason=reason, spans=found.spans, found=found, check=check
    )


def _martian(
    choices: Choices, namespace: Namespace, flow: FlowKey, link: Link
) -> InputRoute | None:
    """Refuse sources and destinations that no packet on a wire may have."""
    src, dst = flow.src or flow.dst, flow.dst
    if src.is_multicast or src.value == LIMITED_BROADCAST:
        return InputRoute(cause=DropCause.INVALID_SOURCE, reason=routes.MartianSource(src))
    if dst.value == LIMITED_BROADCAST:
        return None
    if src.value >> 24 == 0:
        return InputRoute(cause=DropCause.INVALID_SOURCE, reason=routes.MartianSource(src))
    if dst.value >> 24 == 0:
        return _invalid_destination(routes.MartianDestination(dst), None)
    loopback = next((address for address in (dst, src) if address.is_loopback), None)
    if loopback is not None and not settings.either(
        choices, namespace, settings.ROUTE_LOCALNET, link.name
    ):
        return InputRoute(
            cause=DropCause.LOCALNET, reason=routes.LoopbackFromWire(loopback, link.name)
        )
    return None


def _loopback_elsewhere(flow: FlowKey, link: Link) -> InputRoute:
    """Refuse what was translated to ::1: only a route of the device itself counts for that
    (`include/net/ip6_route.h:rt6_need_strict v6.12`).
    """
    reason = routes.LoopbackFromWire(flow.dst, link.name)
    answer = ICMPV6_ANSWERS["ENETUNREACH"]
    return InputRoute(cause=DropCause.NO_ROUTE, answer=answer, reason=reason)


def _no_route(
    choices: Choices, namespace: Namespace, flow: FlowKey, link: Link, found: FibResult
) -> InputRoute:
    family = flow.dst.family
    if family == 4 and not may_forward(choices, namespace, link, family):
        stays = routes.ForwardingOff(namespace.name, link.name, flow.dst)
        spans = (*settings.forwarding_spans(namespace, link.name, family), *found.spans)
        return InputRoute(cause=DropCause.FORWARDING_OFF, reason=stays, spans=spans, found=found)
    answer = (ICMP_ANSWERS if family == 4 else ICMPV6_ANSWERS).get(found.error, "")
    reason = explain_error(flow.dst, found)
    unrouted = found.error == "ENETUNREACH" or (family == 6 and bool(answer))  # (ip6_pkt_drop)
    cause = DropCause.NO_ROUTE if unrouted else DropCause.BLACKHOLE
    return InputRoute(cause=cause, answer=answer, reason=reason, spans=found.spans, found=found)


def _invalid_destination(reason: InputReason, found: FibResult | None) -> InputRoute:
    spans = found.spans if found is not None else ()
    return InputRoute(cause=DropCause.INVALID_DESTINATION, reason=reason, spans=spans)


def _broadcast(namespace: Namespace) -> Destination:
    return Destination("broadcast", namespace.loopback, None, None, None, namespace.loopback.mtu)
