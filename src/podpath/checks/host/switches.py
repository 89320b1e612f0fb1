"""Switches of the kernel that are a fault together with what people say fails: who has to say what
for each row of `switches.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podpath.checks.firewall import chains_named
from podpath.checks.forwarded import DevicePath, find_end
from podpath.checks.message_file import read_fields
from podpath.checks.objects import NODE_PORTS
from podpath.checks.switch_check import Cut, SwitchCheck
from podpath.checks.told import LOSSES, WORKLOADS, find_told, list_failing, list_lost
from podpath.net import protocols
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Known, Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

FILTERED, MANY = "TcpExtIPReversePathFilter", 100
"""The counter of what strict filtering dropped, and more than strays of a network make."""
_WITHOUT = frozenset({
    None, *LOSSES, FailureKind.NO_ADDRESS, FailureKind.NETWORK_UNREACHABLE,
    FailureKind.NO_ROUTE_TO_HOST, FailureKind.ACCESS_DENIED, FailureKind.NOT_STARTED,
})  # fmt: skip
"""How what has no IPv6 fails."""


def _list_by_loopback(case: Case) -> tuple[Span, ...]:
    """Return who says that what rules translate to loopback gets no answer from elsewhere."""
    told = find_told(case, Circumstance.TO_LOOPBACK)
    lost = [one.span for one in list_lost(case) if one.source != EndKind.NODE]
    return (told, *lost) if told is not None and lost else ()


def _list_to_loopback(case: Case) -> tuple[Span, ...]:
    """Return who says so, or that a NodePort gives no answer at an address of loopback, which rules
    translate to a pod's address.
    """
    ports = [one.span for one in list_lost(case) if _is_node_port_of_loopback(one)]
    aside = {Technology.IPVS, Technology.CILIUM} & case.mentions
    return _list_by_loopback(case) or (() if aside else tuple(ports))


def _is_node_port_of_loopback(one: Complaint) -> bool:
    """Tell whether a NodePort is asked at an address of loopback."""
    at_loopback = any(address.is_loopback for address in one.addresses)
    of_range = any(port in NODE_PORTS for port in one.ports)
    return at_loopback and (one.target is EndKind.NODE_PORT or of_range)


def _list_by_two_ways(case: Case) -> tuple[Span, ...]:
    """Return who says that packets come and go by different ways and get lost."""
    ways = (Circumstance.SEVERAL_WAYS, Circumstance.RETURNS_ELSEWHERE)
    told = next((span for one in ways if (span := find_told(case, one)) is not None), None)
    lost = [one.span for one in list_lost(case)]
    return (told, *lost) if told is not None and lost else ()


def _list_filtered(case: Case) -> tuple[Span, ...]:
    """Return who says so, where the kernel is said to have called them martians, or has counted
    many that its filter dropped while the route back is said to lead elsewhere.
    """
    lost = _list_by_two_ways(case)
    if not lost:
        return ()
    said = find_told(case, Circumstance.MARTIANS)
    back = find_told(case, Circumstance.RETURNS_ELSEWHERE)
    counted = case.node.host.counters.get(FILTERED)
    many = counted is not None and counted.value >= MANY
    if said is None and (back is None or not many):
        return ()
    spans = (said, back, counted.span if counted is not None and many else None, *lost)
    return tuple(span for span in spans if span is not None)


def _list_bridged(case: Case) -> tuple[Span, ...]:
    """Return who says that two ends of one bridge do not reach each other, or that guests which
    are bridged to the network outside have none.
    """
    lost: list[Span] = []
    for one in list_lost(case):
        near = one.source in WORKLOADS and one.target in (None, *WORKLOADS)
        if near and find_told(case, Circumstance.ON_ONE_BRIDGE) is not None:
            lost.append(one.span)
        guests = {one.source, one.target} & {EndKind.GUEST, EndKind.CONTAINER}
        if guests and find_told(case, Circumstance.BRIDGED) is not None:
            lost.append(one.span)
    told = (find_told(case, one) for one in (Circumstance.ON_ONE_BRIDGE, Circumstance.BRIDGED))
    said = tuple(span for span in told if span is not None)
    return (*said[:1], *lost) if lost else ()


def _list_bridged_and_dropped(case: Case) -> tuple[Span, ...]:
    """Return who says so, where what comes in and leaves by a bridge is dropped in FORWARD, as its
    rules show, or as people say where no rule is shown.
    """
    lost = _list_bridged(case)
    if not lost:
        return ()
    shown = [(table, chain) for table, chain in chains_named(case.node.host, "filter", "FORWARD")]
    told = find_told(case, Circumstance.FORWARD_DROPS)
    if not shown:
        return (*lost[:1], told, *lost[1:]) if told is not None else ()
    ends = [find_end(table, chain, DevicePath(None, None)) for table, chain in shown]
    spans = tuple(end.span for end in ends if end is not None and end.sure)
    return (*lost[:1], *spans, *lost[1:]) if len(spans) == len(ends) else ()


def _list_pings(case: Case) -> tuple[Span, ...]:
    """Return who says that pings get no answer."""
    pings = (protocols.ICMP, protocols.ICMPV6)
    return tuple(one.span for one in list_lost(case) if one.protocol in pings)


def _list_pings_of_host(case: Case) -> tuple[Span, ...]:
    """Return who says that the host answers no ping of anybody else."""
    meant = {
        one.span
        for one in list_lost(case)
        if one.target is EndKind.NODE and one.source != EndKind.NODE
    }
    return tuple(span for span in _list_pings(case) if span in meant)


def _list_by_ipv6(case: Case) -> tuple[Span, ...]:
    """Return who says that what the host forwards is cut off by IPv6."""
    return tuple(
        one.span
        for one in list_lost(case)
        if Technology.IPV6 in one.mentions and one.source in WORKLOADS
        if one.target is EndKind.OUTSIDE or one.same_node is False
    )


def _list_without_ipv6(case: Case) -> tuple[Span, ...]:
    """Return who says that IPv6 does not work, where the switch of all devices is stated, and their
    addresses are listed and none is of IPv6: a device's own switch may be another.
    """
    switch = case.node.host.sysctls.get("net.ipv6.conf.all.disable_ipv6")
    whole = isinstance(switch, Known) and switch.value == "1"
    spans = (one.span for one in case.node.host.addresses.items if one.span is not None)
    listed = any("-4" not in (span.source.command or "").split() for span in spans)
    return _list_maybe_without_ipv6(case) if whole and listed else ()


def _list_maybe_without_ipv6(case: Case) -> tuple[Span, ...]:
    """Return who says so, whichever device's switch is stated."""
    held = case.node.host.addresses.items
    if any(one.address.family == 6 and one.span is not None for one in held):
        return ()
    return tuple(
        one.span
        for one in list_failing(case)
        if Technology.IPV6 in one.mentions and one.failure in _WITHOUT
    )


def _list_by_cilium(case: Case) -> tuple[Span, ...]:
    """Return who says that pods of Cilium get no answer, where its options state that pods have no
    routes of their own, so that the route back is by cilium_host.
    """
    return _list_lost_pods(case) if _is_endpoint_routed(case) is False else ()


def _list_maybe_by_cilium(case: Case) -> tuple[Span, ...]:
    """Return who says so, where the option is not shown."""
    return _list_lost_pods(case) if _is_endpoint_routed(case) is None else ()


def _is_endpoint_routed(case: Case) -> bool | None:
    """Tell whether Cilium gives each pod a route of its own; None where nothing states it."""
    cilium = case.node.cilium
    option = cilium.options.get("enable-endpoint-routes") if cilium is not None else None
    return option.value == "true" if isinstance(option, Known) else None


def _list_lost_pods(case: Case) -> tuple[Span, ...]:
    loose = case.node.host.sysctls.get("net.ipv4.conf.all.rp_filter")
    if Technology.CILIUM not in case.mentions or (isinstance(loose, Known) and loose.value == "2"):
        return ()
    return tuple(one.span for one in list_lost(case) if EndKind.POD in {one.source, one.target})


def _list_nobody(_: Case) -> tuple[Span, ...]:
    return ()


def _list_old_clients(case: Case) -> tuple[Span, ...]:
    """Return who says that anything gets no answer, or not always."""
    return tuple(one.span for one in list_failing(case) if one.failure in {None, *LOSSES})


# What people say that makes the fault of each row certain, and what makes it possible.
_ROADS: Mapping[str, tuple[Cut, Cut]] = {
    "loopback-not-routed": (_list_to_loopback, _list_nobody),
    "strict-filter-two-ways": (_list_filtered, _list_by_two_ways),
    "bridged-packets-filtered": (_list_bridged_and_dropped, _list_bridged),
    "cilium-device-filtered": (_list_by_cilium, _list_maybe_by_cilium),
    "ipv6-not-forwarded": (_list_by_ipv6, _list_nobody),
    "ipv6-switched-off": (_list_without_ipv6, _list_maybe_without_ipv6),
    "pings-ignored": (_list_pings_of_host, _list_pings),
    "time-wait-recycled": (_list_nobody, _list_old_clients),
}


def _read_switch(fields: dict[str, Any]) -> SwitchCheck:
    cuts, may_cut = _ROADS[fields["name"]]
    return SwitchCheck(**fields, cuts=cuts, may_cut=may_cut)


PINGS_IGNORED = "pings-ignored"
"""The switch that a walk meets by itself."""
SWITCHES: tuple[SwitchCheck, ...] = tuple(map(_read_switch, read_fields("host", "switches.toml")))
"""In the order of the manual."""
