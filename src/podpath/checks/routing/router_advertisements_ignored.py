"""router-advertisements-ignored: the host ignores the router advertisements that supply its default
route, often because it forwards IPv6.

What it is
    The uplink's forwarding of IPv6 is 1 (net.ipv6.conf.all.forwarding sets it for every device),
    and its accept_ra is 1, the default. Or accept_ra is 0, whether the host forwards or not.

Why it breaks
    On a device that forwards, the kernel considers itself a router and accepts advertisements only
    if accept_ra is 2. The default route learned from an advertisement expires after its lifetime
    (half an hour), and IPv6 to the outside stops working some time after Docker or a CNI plugin
    turned forwarding on.

    NetworkManager, systemd-networkd and dhcpcd receive advertisements themselves, and set accept_ra
    to 0: there, 0 is no fault.

How to confirm
    sysctl net.ipv6.conf.DEVICE.forwarding net.ipv6.conf.DEVICE.accept_ra
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
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import is_inner_bridge, is_tunnel
from podpath.checks.told import LOSSES, list_failing
from podpath.checks.topology import known_sysctl
from podpath.net.complaints import EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Known, Span, list_spans
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.shifts import ShiftKind

CATEGORIES = (
    Category.IPV6,
    Category.SYSCTL,
    Category.NO_ROUTE,
)
NAME = "router-advertisements-ignored"


WITH_ADVERTISEMENTS = 6
OF_KERNEL = 1024
"""The metric of a default route that the kernel itself makes of an advertisement
(IP6_RT_PRIO_USER): NetworkManager and networkd receive them whatever accept_ra says, and give
others.
"""
QUOTED = 2
"""What is missing, in lines that are quoted."""
EXPIRES, BY_PROGRAM = 0.5, 0.6
"""The certainty where the default route may still be there, and where a program of the host may
receive advertisements.
"""
ASK = FollowUp(
    "whether the kernel is to receive advertisements or a program does, and whether any come",
    "networkctl status DEVICE; nmcli -f ipv6.method,general device show DEVICE; "
    "tcpdump -ni DEVICE icmp6 and 'ip6[40] == 134'",
    "no such program, and advertisements come: accept_ra=0 is the cause; none come: ask the router",
)
_IPV6 = re.compile(r"\bping6\b|\btraceroute6\b|(?<!\S)-6\b|(?:[0-9a-f]{1,4}:){2,}|::", re.ASCII)
"""What tells that a command goes by IPv6."""
_PORTS = ("veth", "cali", "lxc", "eni")
"""How names of pods' devices begin, by which no router announces anything."""
PREFIX, SUFFIX = "net.ipv6.conf.", ".accept_ra"


def check(case: Case) -> Iterator[Finding]:
    """Report devices that ignore advertisements, unless another default route is there, or one by
    the device that a program made of an advertisement.
    """
    host = case.node.host
    defaults = [
        route
        for route in host.routes.items
        if route.prefix.family == 6 and route.prefix.length == 0
    ]
    if any(
        route.type == "unicast" and route.protocol not in {"ra", "kernel"} for route in defaults
    ):
        return
    received = {
        str(hop.link)
        for route in defaults
        if route.protocol == "ra" and route.metric != OF_KERNEL
        for hop in route.nexthops
    }
    gone = (*_find_gone(case), *_find_unreachable(case), *_find_told(case))[:QUOTED]
    for device, accepts in _list_accepting(case):
        if device in received:
            continue
        forwarding = known_sysctl(host, f"{PREFIX}{device}.forwarding") or known_sysctl(
            host, f"{PREFIX}all.forwarding"
        )
        routes = forwarding is not None and forwarding.value == "1"
        if accepts.value == "1" and routes and forwarding is not None:
            yield _report(device, (accepts, forwarding), gone, _list_unreached(case))
            return
        unsaid = not any(True for _ in list_failing(case))
        lacks = unsaid and Technology.IPV6 in case.mentions and _is_without_default(case)
        if accepts.value == "0" and (gone or lacks):
            yield _report(device, (accepts,), gone)
            return


def _list_accepting(case: Case) -> Iterator[tuple[str, Known[str]]]:
    """Yield the devices whose accept_ra is stated, with what it is."""
    for key, fact in case.node.host.sysctls.items():
        device = key.removeprefix(PREFIX).removesuffix(SUFFIX)
        stated = key.startswith(PREFIX) and key.endswith(SUFFIX)
        if not stated or device in {"all", "default", "lo"} or not isinstance(fact, Known):
            continue
        inner = is_inner_bridge(device) or is_tunnel(device) or device.startswith(_PORTS)
        if fact.span is not None and not inner:
            yield device, fact


def _report(
    device: str,
    stated: tuple[Known[str], ...],
    gone: tuple[Span, ...],
    unreached: tuple[str, ...] = (),
) -> Finding:
    """Report a device that ignores advertisements: since it forwards, or whatever it does. The
    first is certain where the default route is gone, too; in the second case a program of the host
    may receive them.
    """
    name, value = device.replace("/", "."), stated[0].value
    key = f"{PREFIX}{device}{SUFFIX}"
    forwards = len(stated) > 1
    why = "the host forwards IPv6 and " if forwards else ""
    settled = forwards and bool(gone)
    possible = BY_PROGRAM if gone else EXPIRES
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{name} ignores router advertisements because {why}{key} is {value}.",
        evidence=(*list_spans(stated), *gone),
        reasoning=("A device that forwards accepts advertisements only if accept_ra is 2.",)
        if forwards
        else ("With 0 the kernel accepts none.",),
        breaks=("IPv6 to other networks, once the default route has expired",),
        repairs=(
            Repair(
                title="accept advertisements despite forwarding"
                if forwards
                else "accept advertisements",
                commands=(f"sysctl -w {key}=2",),
            ),
        ),
        prevention="Keep accept_ra=2 in /etc/sysctl.d, or set the default route by hand.",
        certainty=1.0 if settled else possible,
        asks=() if forwards else (ASK,),
        marks=("accept_ra", name, *unreached),
    )


def _is_without_default(case: Case) -> bool:
    """Tell whether the host's routes of IPv6 are listed, and none of them is a default."""
    routes = case.node.host.routes
    own = [one for one in routes.items if one.prefix.family == 6 and not one.inferred]
    return bool(own) and not routes.cut and all(one.prefix.length for one in own)


def _find_told(case: Case) -> tuple[Span, ...]:
    """Return a sentence that says that the default route of IPv6 is lost, or that the outside world
    is not reached by IPv6, where the host has no default route to it.
    """
    for one in list_failing(case):
        lost = {Technology.IPV6, Technology.VANISHES} <= one.mentions
        if lost and {"default", "route"} <= one.spoken:
            return (one.span,)
    if not _is_without_default(case):
        return ()
    unreached = {FailureKind.NETWORK_UNREACHABLE, None, *LOSSES}
    for one in list_failing(case):
        by_ipv6 = Technology.IPV6 in one.mentions or any(end.family == 6 for end in one.addresses)
        outside = one.target is EndKind.OUTSIDE or one.failure is FailureKind.NETWORK_UNREACHABLE
        if by_ipv6 and outside and one.failure in unreached:
            return (one.span,)
    return ()


def _list_unreached(case: Case) -> tuple[str, ...]:
    """Return where the host itself says that it has no route to, by IPv6."""
    refused = FailureKind.NETWORK_UNREACHABLE
    tried = (one for one in case.attempts if one.result is refused)
    return tuple(str(one.probe.dst) for one in tried if one.probe.dst.family == WITH_ADVERTISEMENTS)


def _find_unreachable(case: Case) -> tuple[Span, ...]:
    """Return a try that the host itself refused since it has no route, where its routes of IPv6 are
    listed and none of them is a default.
    """
    if not _is_without_default(case):
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
