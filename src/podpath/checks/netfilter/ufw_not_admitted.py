"""ufw-not-admitted: ufw is on and admits no connection to the port that fails.

What it is
    ufw drops what comes in and is not listed, and what the host forwards, unless its defaults say
    otherwise.

Why it breaks
    `ufw status` lists who may reach what. A port that is not listed gets no answer. Pods,
    containers and other nodes count as "in", too: the API server's port, the kubelet's and those of
    the overlay have to be listed, and what is routed to containers needs `ufw route allow`.

How to confirm
    ufw status verbose; ufw show added
    dmesg | grep 'UFW BLOCK'

How to fix
    ufw allow PORT/tcp (from RANGE); ufw route allow in on DEVICE out on BRIDGE

References
    ufw(8); K3s, Requirements, ufw
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.asked_ports import holds_port
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import failures
from podpath.checks.stated import is_inner_bridge, statements_of
from podpath.checks.told import INNER, LOSSES, WORKLOADS, list_failing, list_lost
from podpath.net.complaints import Complaint
from podpath.net.failures import FailureKind
from podpath.net.firewall import (
    AllowedSource,
    FirewallProgram,
    HostFirewall,
    UfwDirection,
)
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.HOST_FIREWALL, Category.FORWARD_POLICY)
NAME = "ufw-not-admitted"
QUOTED = 3
CLUSTERS = frozenset({Technology.K3S, Technology.KUBERNETES})
API_SERVER = 6443
_PORTS = re.compile(r"(?P<ports>\d[\d,:]*)(?:/(?:tcp|udp))?(?: \(v6\))?(?: on \S+)?")
ASK = FollowUp(
    "whether ufw drops the failing packets",
    "ufw logging on; dmesg -w | grep 'UFW BLOCK'",
    "a line appears with each attempt: it does",
)
ASK_DEFAULT = FollowUp(
    "whether ufw denies by default what comes in",
    "ufw status verbose",
    "`deny (incoming)`: it drops what no rule lists",
)
_LOSSES = LOSSES | {FailureKind.SOMETIMES}
"""Connections that were let in before ufw was switched on go on, and new ones do not."""
_DENIES = frozenset({"deny", "reject"})


def check(case: Case) -> Iterator[Finding]:
    """Report a port that fails in silence and that no rule of an active ufw lists, what is routed
    while it denies that, and a cluster whose API server's port is not listed.
    """
    active = [
        (firewall, stated.span)
        for firewall, stated in statements_of(case, HostFirewall)
        if firewall.name is FirewallProgram.UFW and firewall.active
    ]
    rules = [(rule, stated.span) for rule, stated in statements_of(case, AllowedSource)]
    if not active:
        return
    spans = [active[0][1], *(span for _, span in rules[:QUOTED])]
    routed = [span for firewall, span in active if firewall.routed in {"deny", "reject"}]
    if any(rule.direction is UfwDirection.FWD for rule, _ in rules):
        routed = []
    inner = _find_inner(case)
    if routed and inner is not None:
        found = _report("ufw denies what the host would route.", [routed[0], inner.span], 0.6)
        into = inner.target in WORKLOADS and inner.same_node is False and bool(inner.addresses)
        yield replace(found, proves=LOSSES) if into else found
        return
    listed = [rule for rule, _ in rules if rule.direction is not UfwDirection.OUT]
    default = {firewall.incoming for firewall, _ in active} - {""}
    unlisted = _find_unlisted(case, listed) if default <= _DENIES else None
    if unlisted is not None:
        yield _report_port(unlisted, spans, stated=bool(default))
        return
    told = next((one for one in list_lost(case) if one.target in INNER), None)
    if routed and told is not None:
        yield _report("ufw denies what the host would route.", [routed[0], told.span], 0.6)
    elif default <= _DENIES and listed and CLUSTERS & case.mentions and _fails(case):
        inside = [rule for rule in listed if _may_admit_pods(case, rule)]
        if all(map(_is_plain, inside)) and not _holds(inside, API_SERVER):
            claim = f"ufw is on and does not admit pods to port {API_SERVER} of the API server."
            yield _report(claim, spans, 0.6)


def _find_inner(case: Case) -> Complaint | None:
    """Return what people say fails of a workload, at least at times."""
    lost = [one for one in list_failing(case) if one.failure in {None, *_LOSSES}]
    return next((one for one in lost if {one.source, one.target} & WORKLOADS), None)


def _find_unlisted(case: Case, listed: Sequence[AllowedSource]) -> tuple[int, Span] | None:
    """Return the first port that fails in silence, where the rules are about other ports alone."""
    if not listed or not all(map(_names_ports, listed)):
        return None
    lost = _list_lost_ports(case)
    return next(((port, span) for port, span in lost if not _holds(listed, port)), None)


def _names_ports(rule: AllowedSource) -> bool:
    """Tell whether a rule is about ports, for whomever: it admits no other port."""
    return _PORTS.fullmatch(rule.to.strip()) is not None


def _is_plain(rule: AllowedSource) -> bool:
    """Tell whether a rule is about ports: one for a device or range may admit anything."""
    return _names_ports(rule) and rule.source is None


def _may_admit_pods(case: Case, rule: AllowedSource) -> bool:
    """Tell whether a rule may be for pods: its range is none, overlaps one behind the host's
    bridges, or no output shows any of those.
    """
    ranges = [held.prefix for held in case.node.host.addresses.items if is_inner_bridge(held.link)]
    return rule.source is None or not ranges or any(map(rule.source.overlaps, ranges))


def _holds(rules: Sequence[AllowedSource], port: int) -> bool:
    for rule in rules:
        found = _PORTS.fullmatch(rule.to.strip())
        if found is not None and holds_port(found["ports"], port):
            return True
    return False


def _list_lost_ports(case: Case) -> Iterator[tuple[int, Span]]:
    """Yield the ports of connections that get no answer, as tries and sentences tell, but for those
    of addresses that a listing shows to be another machine's.
    """
    for failure in failures(case):
        if failure.result is FailureKind.TIMEOUT and failure.dport:
            yield failure.dport, failure.span
    own = {held.address for held in case.node.host.addresses.items if held.span is not None}
    for told in _list_lost_told(case):
        elsewhere = bool(own and told.addresses) and own.isdisjoint(told.addresses)
        yield from ((port, told.span) for port in (() if elsewhere else told.ports))


def _list_lost_told(case: Case) -> Iterator[Complaint]:
    return (one for one in list_failing(case) if one.failure in LOSSES)


def _report_port(unlisted: tuple[int, Span], spans: Sequence[Span], *, stated: bool) -> Finding:
    """Report a port; where ufw's default is not stated, ask for it."""
    port, span = unlisted
    claim = f"ufw is on and admits no connection to port {port}."
    found = _report(claim, [*spans, span], 0.7)
    return found if stated else replace(found, proves=frozenset(), asks=(ASK_DEFAULT,))


def _fails(case: Case) -> bool:
    return any(True for _ in list_failing(case))


def _report(claim: str, spans: Sequence[Span], certainty: float) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=claim,
        evidence=tuple(dict.fromkeys(spans)),
        reasoning=("ufw drops what comes in and is not listed.",),
        breaks=("connections to ports that ufw does not list, from pods and other hosts, too",),
        prevention="List the ports of the cluster in ufw before it is switched on.",
        certainty=certainty,
        proves=frozenset({FailureKind.TIMEOUT}) if certainty > 0.6 else frozenset(),
        asks=(ASK,),
        marks=("active",),
    )
