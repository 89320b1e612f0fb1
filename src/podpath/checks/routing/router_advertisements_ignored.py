"""router-advertisements-ignored: the host forwards IPv6, and therefore ignores the router
advertisements that supply its default route.

What it is
    net.ipv6.conf.all.forwarding is 1, and accept_ra of the uplink is 1 (the default) or 0.

Why it breaks
    With forwarding on, the kernel considers itself a router and accepts advertisements only if
    accept_ra is 2. The default route learned from an advertisement expires after its lifetime (half
    an hour), and IPv6 to the outside stops working some time after Docker or a CNI plugin turned
    forwarding on.

How to confirm
    sysctl net.ipv6.conf.all.forwarding net.ipv6.conf.DEVICE.accept_ra
    ip -6 route show default               # `proto ra`, `expires ...sec`

How to fix
    sysctl -w net.ipv6.conf.DEVICE.accept_ra=2, kept in /etc/sysctl.d; or a static default route;
    with systemd-networkd IPv6AcceptRA=yes.

References
    ipv6_accept_ra (include/net/ipv6.h v6.12); Documentation/networking/ip-sysctl.rst, accept_ra
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.told import list_failing
from podpath.checks.topology import known_sysctl
from podpath.net.failures import FailureKind
from podpath.net.provenance import Known, Span
from podpath.node.case import Case
from podpath.node.shifts import ShiftKind

CATEGORIES = (
    Category.IPV6,
    Category.SYSCTL,
    Category.NO_ROUTE,
)
NAME = "router-advertisements-ignored"


WITH_ADVERTISEMENTS = 6
_IPV6 = re.compile(r"\bping6\b|\btraceroute6\b|(?<!\S)-6\b|(?:[0-9a-f]{1,4}:){2,}|::", re.ASCII)
"""What tells that a command goes by IPv6."""
PREFIX, SUFFIX = "net.ipv6.conf.", ".accept_ra"


def check(case: Case) -> Iterator[Finding]:
    """Report devices that ignore advertisements because the host forwards, unless another default
    route is there.
    """
    host = case.node.host
    forwarding = known_sysctl(host, "net.ipv6.conf.all.forwarding")
    if forwarding is None or forwarding.value != "1" or forwarding.span is None:
        return
    defaults = [
        route
        for route in host.routes.items
        if route.prefix.family == 6 and route.prefix.length == 0
    ]
    if any(
        route.type == "unicast" and route.protocol not in {"ra", "kernel"} for route in defaults
    ):
        return
    gone = (*_find_gone(case), *_find_unreachable(case))
    for key, fact in host.sysctls.items():
        device = key.removeprefix(PREFIX).removesuffix(SUFFIX).replace("/", ".")
        stated = (
            key.startswith(PREFIX)
            and key.endswith(SUFFIX)
            and device not in {"all", "default", "lo"}
        )
        if not stated or not isinstance(fact, Known) or fact.value != "1" or fact.span is None:
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{device} ignores router advertisements because the host forwards IPv6 and {key} "
                f"is {fact.value}."
            ),
            evidence=(fact.span, forwarding.span, *gone),
            reasoning=("A host that forwards accepts advertisements only if accept_ra is 2.",),
            breaks=("IPv6 to other networks, once the default route has expired",),
            repairs=(
                Repair(
                    title="accept advertisements despite forwarding",
                    commands=(f"sysctl -w {key}=2",),
                ),
            ),
            prevention="Keep accept_ra=2 in /etc/sysctl.d, or set the default route by hand.",
            certainty=1.0 if gone else 0.5,
            marks=(f"{fact.value}", device),
        )
        return


def _find_unreachable(case: Case) -> tuple[Span, ...]:
    """Return a try that the host itself refused since it has no route, where its routes of IPv6 are
    listed and none of them is a default.
    """
    listed = any(
        route.prefix.family == 6 and not route.inferred for route in case.node.host.routes.items
    )
    default = any(
        route.prefix.family == 6 and route.prefix.length == 0
        for route in case.node.host.routes.items
    )
    if default or not listed or case.node.host.routes.cut:
        return ()
    refused = FailureKind.NETWORK_UNREACHABLE
    tried = [
        one.span
        for one in case.attempts
        if one.result is refused and one.probe.dst.family == WITH_ADVERTISEMENTS
    ]
    tried += [
        one.span
        for one in case.unplaced
        if one.result is refused and _is_ipv6(one.target, one.span.source.command or "")
    ]
    return tuple(tried[:1])


def _is_ipv6(target: str, command: str) -> bool:
    """Tell whether a try was by IPv6: its target or what was typed says so."""
    return _IPV6.search(f"{target} {command}") is not None


def _find_gone(case: Case) -> tuple[Span, ...]:
    """Return the default route by advertisement that an earlier output lists and a later one does
    not, where people say that something fails.
    """
    lost = (
        shift.good
        for shift in case.shifts
        if shift.kind is ShiftKind.ROUTE and shift.bad is None and shift.good is not None
    )
    found = next((span for span in lost if "proto ra" in span.text), None)
    return () if found is None or not any(True for _ in list_failing(case)) else (found,)
