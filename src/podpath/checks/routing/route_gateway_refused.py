"""route-gateway-refused: a route is refused because its gateway or its device cannot be used.

What it is
    A command that sets a route answers `Nexthop has invalid gateway`, `Network is unreachable`
    (SIOCADDRT, RTNETLINK answers), `Device for nexthop is not up` or similar.

Why it breaks
    A gateway has to be on a network that the device is in, or be marked onlink; and the device has
    to be up. Otherwise the kernel does not accept the route, so it does not exist.

How to confirm
    ip addr show DEVICE                     # is the gateway inside one of its prefixes?
    ip route get GATEWAY

How to fix
    Set the address with the correct prefix length, or add `onlink` (netplan: on-link: true) if the
    gateway is outside it on purpose, as on many rented servers with a /32.

References
    fib_check_nh (net/ipv4/fib_semantics.c v6.12); ip-route(8)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_command, find_said
from podpath.checks.told import LOSSES
from podpath.net.addresses import Address, Prefix, read_address
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case
from podpath.node.links import InterfaceAddress

CATEGORIES = (
    Category.NO_ROUTE,
    Category.WRONG_ROUTE,
    Category.NETWORK_MANAGER,
)
NAME = "route-gateway-refused"
QUOTED = 3
_UNREACHABLE = ("Network is unreachable", "No route to host", "Nexthop has invalid gateway")
_SETS = re.compile(r"\bip\s+(?:-\S+\s+)*r\w*\s+(?:a|ap|app|re|ch)\w*\s|\broute\s+add\b")
_VIA = re.compile(r"\b(?:via|gw)\s+(?:inet6?\s+)?(?P<gateway>[0-9A-Fa-f.:]+)")
_ASK = FollowUp(
    "which command was refused, and whether a network of the host's own contains its gateway",
    "ip -br addr; ip route show table all; the script with `sh -x`",
    "no prefix of a device that is up contains the gateway: set the address first, or add `onlink`",
)


def check(case: Case) -> Iterator[Finding]:
    """Report each refusal, with the words of the kernel."""
    for message in find_said(case, MessageKind.ROUTE_REFUSED):
        error = message.values["error"]
        if error == "Invalid prefix for given prefix length":
            continue
        gateway = message.values.get("gateway", "")
        where = f" (its gateway {gateway} is in no network of the host's own)" if gateway else ""
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=f"The kernel refuses a route{where}: {error}.",
            evidence=(message.span,),
            reasoning=("The route that the command was to add is not in the routing table.",),
            breaks=("traffic that the route is for",),
            prevention="Keep address, prefix length and gateway of a device in one file.",
            certainty=0.8,
            marks=(error,),
            proves=LOSSES if gateway else frozenset(),
        )
    for message in find_said(case, MessageKind.RTNETLINK_ANSWER):
        if message.values["error"] in _UNREACHABLE:
            yield from _report_answer(case, message)


def _report_answer(case: Case, message: Message) -> Iterator[Finding]:
    """Report that netlink knows no way to a gateway: that of the command above it, where that is
    shown and sets a route.
    """
    error, command = message.values["error"], find_command(message.span)
    if command is not None and _SETS.search(command) is None:
        return
    named = None if command is None else _VIA.search(command)
    gateway = None if named is None else read_address(named["gateway"])
    apart = gateway is not None and _is_apart(case, gateway)
    shown = tuple(item.span for item in _list_own(case) if item.span is not None) if apart else ()
    certainty = 0.5 if command is None else 0.8
    where = "its gateway" if gateway is None else f"its gateway {gateway}"
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The kernel refuses a route ({error}): {where} is in no network of the host's own.",
        evidence=(message.span, *shown[:QUOTED]),
        reasoning=(
            "The kernel accepts a gateway only where a connected network contains it.",
            "The route that the command was to add is not in the routing table.",
        ),
        breaks=("traffic that the route is for",),
        prevention="Keep address, prefix length and gateway of a device in one file.",
        certainty=1.0 if apart else certainty,
        marks=(error,),
        asks=() if apart else (_ASK,),
    )


def _is_apart(case: Case, gateway: Address) -> bool:
    """Tell whether the host's addresses are shown, and none of their networks contains it."""
    own = [item for item in _list_own(case) if item.address.family == gateway.family]
    return bool(own) and not any(
        Prefix.of(item.address, item.length).covers(gateway) for item in own
    )


def _list_own(case: Case) -> Iterator[InterfaceAddress]:
    return (
        item
        for item in case.node.host.addresses.items
        if item.span is not None and not item.address.is_loopback
    )
