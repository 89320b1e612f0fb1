"""vpn-takes-range: a VPN's route takes packets that belong to services, pods or the local gateway.

What it is
    The kernel answers that the way to a service's or pod's address leads into a VPN's device; or
    the two halves 0.0.0.0/1 and 128.0.0.0/1, which are longer than every default route, go there.

Why it breaks
    VPN clients set both halves instead of replacing the default route (OpenVPN's redirect-gateway
    def1). Every destination without a more specific route goes into the VPN, including what is
    forwarded for pods: the other end does not know their addresses. A VPN's route for 10.0.0.0/8
    takes a cluster's ranges in the same way.

How to confirm
    ip route get ADDRESS
    ip route | grep -e '/1 ' -e tun -e wg

How to fix
    Leave the ranges out of what the VPN pushes (pull-filter ignore "redirect-gateway"; AllowedIPs
    without them), or add more specific routes for them; or masquerade what pods send through the
    VPN.

References
    openvpn(8), --redirect-gateway def1; fib_table_lookup (net/ipv4/fib_trie.c v6.12)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import see
from podpath.checks.stated import spans_of, statements_of
from podpath.checks.told import list_failing_addresses, list_lost
from podpath.net.addresses import Address, Prefix
from podpath.net.statements import RouteAnswer
from podpath.node.case import Case
from podpath.node.node import Netns
from podpath.node.routing import MAIN, Route

CATEGORIES = (Category.WRONG_ROUTE, Category.OVERLAPPING_RANGES)
NAME = "vpn-takes-range"
HALVES = (Prefix.parse("0.0.0.0/1"), Prefix.parse("128.0.0.0/1"))
_VPN = re.compile(r"(?:(?:tun|tap|ppp|utun|nordlynx|tailscale|nebula)\d*|wg[\w-]*|zt\w+)$")
"""Devices of VPNs; overlays of container networks are called otherwise."""
POSSIBLE = 0.5
TAKEN = 0.7
"""The kernel itself says that a service's address goes there."""


def check(case: Case) -> Iterator[Finding]:
    """Report addresses of services that the kernel sends into a VPN, and both halves of a split
    default.
    """
    yield from _check_answers(case)
    if any(True for _ in list_lost(case)):
        failing = list_failing_addresses(case)
        for namespace in case.node.namespaces.values():
            if not failing or any(_is_taken(namespace, one) for one in failing):
                yield from _check_halves(namespace)


def _check_answers(case: Case) -> Iterator[Finding]:
    services = {seen.text_at("spec", "clusterIP"): seen.title for seen in see(case, "Service")}
    for answer, stated in statements_of(case, RouteAnswer):
        title = services.get(str(answer.dst))
        if title is None or answer.link is None or not _VPN.match(answer.link):
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"The kernel sends {answer.dst}, the address of service {title}, into the VPN's "
                f"device {answer.link}."
            ),
            evidence=(stated.span,),
            reasoning=(
                (
                    "Unless a rule on this host translates the address first, it leaves through "
                    "the VPN."
                ),
            ),
            breaks=(f"connections to service {title} from this host",),
            prevention="Choose ranges of services and pods that no VPN's route covers.",
            certainty=TAKEN,
            asks=(
                FollowUp(
                    "whether this host translates the address, and where to",
                    f"iptables-save -t nat | grep {answer.dst}; tcpdump -ni {answer.link} host "
                    f"{answer.dst}",
                    f"no rule, or packets on {answer.link}: the VPN takes them",
                ),
            ),
            marks=(str(answer.link),),
        )


def _check_halves(namespace: Netns) -> Iterator[Finding]:
    found = [route for route in namespace.routes.items if _is_half(route)]
    if {route.prefix for route in found} != set(HALVES):
        return
    device = found[0].nexthops[0].link
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{HALVES[0]} and {HALVES[1]} send everything without a longer prefix through the "
            f"VPN's device {device}; the default route is not used."
        ),
        evidence=spans_of(found),
        reasoning=("Both halves are longer than any default route.",),
        breaks=("packets of pods to the outside, and answers to clients in other networks",),
        prevention="Leave the default route to the host, and give the VPN only its own networks.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                "which way the failing packets go",
                f"ip route get ADDRESS; tcpdump -ni {device} net PODS",
                f"packets with the pods' addresses on {device}: the VPN takes them",
            ),
        ),
        marks=(str(device),),
    )


def _is_taken(namespace: Netns, address: Address) -> bool:
    """Tell whether no route that is longer than the halves leads to an address."""
    return not any(
        route.prefix.length > 1 and route.prefix.covers(address) for route in namespace.routes.items
    )


def _is_half(route: Route) -> bool:
    links = [hop.link for hop in route.nexthops if hop.link is not None]
    return (
        route.prefix in HALVES
        and route.table == MAIN
        and route.span is not None
        and bool(links)
        and all(_VPN.match(link) for link in links)
    )
