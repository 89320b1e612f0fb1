"""answers-without-request: a router sees only the replies of connections, which conntrack therefore
calls INVALID.

What it is
    The kernel logged a SYN,ACK that a rule for INVALID packets took. It came in on a device and
    was to leave by the same one, or the SYN was never seen by this host.

Why it breaks
    Requests go directly or through another router; only replies pass here. conntrack has never seen
    the SYN, calls the SYN,ACK INVALID, and a rule drops it. Pings get through if the rule covers
    only TCP.

How to confirm
    ip route get CLIENT (on the server); tcpdump -eni DEVICE host SERVER: who sends the frames

How to fix
    Give the server a route to the client's network through the router that the requests use, or let
    the router in between pass INVALID packets from that network (or exempt them from tracking with
    NOTRACK).

References
    net/netfilter/nf_conntrack_proto_tcp.c:nf_conntrack_tcp_packet v6.12
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.told import list_failing
from podpath.net.addresses import Address
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.routing import Route

CATEGORIES = (Category.ASYMMETRIC_PATH, Category.CONNTRACK_INVALID)
NAME = "answers-without-request"


def check(case: Case) -> Iterator[Finding]:
    """Report the first SYN,ACK that was logged as INVALID."""
    for message in find_said(case, MessageKind.NETFILTER_LOG):
        words = set(message.span.text.split())
        invalid = "invalid" in message.values.get("prefix", "").casefold()
        if invalid and {"SYN", "ACK"} <= words and "RST" not in words:
            yield _report(case, message)
            return


def _find_turn(case: Case, message: Message) -> tuple[Span, ...]:
    """Return the routes by which such a packet would leave the way it came: to its receiver by a
    gateway on the device on which its sender is.
    """
    device = message.values.get("iif", "")
    if not device or device != message.values.get("oif"):
        return ()
    ends = [Address.parse(message.values[side]) for side in ("src", "dst")]
    found = (route for route in case.node.host.routes.items if _turns(route, ends, device))
    return tuple(route.span for route in found if route.span is not None)


def _turns(route: Route, ends: Sequence[Address], device: str) -> bool:
    held = bool(route.prefix.length) and any(route.prefix.covers(end) for end in ends)
    return held and any(hop.link == device for hop in route.nexthops)


def _report(case: Case, message: Message) -> Finding:
    src, dst = message.values["src"], message.values["dst"]
    try:
        turn = _find_turn(case, message)
    except ValueError:
        turn = ()
    sure = bool(turn) and any(True for _ in list_failing(case))
    ask = FollowUp(
        "which way the requests take",
        f"ip route get {dst} (on {src}); tcpdump -eni any tcp and host {src}",
        "no SYN passes here, only the answers: the way there differs from the way back",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"This host sees only the answers from {src} to {dst}: it never saw the request, so a "
            "rule drops them as INVALID."
        ),
        evidence=(message.span, *turn),
        reasoning=("conntrack creates no entry for a SYN-ACK.",),
        breaks=(f"TCP connections between {dst} and {src}",),
        prevention="Route requests and answers through the same stateful routers.",
        certainty=1.0 if sure else 0.6,
        asks=() if sure else (ask,),
        marks=("INVALID", "ACK", "SYN"),
    )
