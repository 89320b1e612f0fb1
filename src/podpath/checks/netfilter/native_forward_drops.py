"""native-forward-drops: a base chain of nftables drops what the host forwards.

What it is
    `nft list ruleset` shows a chain at the hook forward whose policy is drop, or whose last rule
    drops or rejects everything, and no rule in it accepts a new connection: only replies, loopback
    or ICMP. Or its rules accept connections only from other devices or to other ports: those of a
    router's NICs, while the traffic that is cut off comes from a container's bridge.

Why it breaks
    Each base chain at a hook decides for itself: a drop in one is final, whatever Docker's or
    kube-proxy's chains accept. Packets of pods, containers, guests and machines behind the host end
    here. Distributions' and administrators' files (/etc/nftables.conf) often have such a chain for
    hosts that are not routers.

How to confirm
    nft list ruleset | grep -A8 'hook forward'
    nft monitor trace        # after: nft insert rule inet filter forward meta nftrace set 1

How to fix
    Accept what belongs there, in the file of the rules: iifname "docker0" accept, oifname "docker0"
    accept; or make the chain's policy accept.

References
    nft_do_chain_inet (net/netfilter/nft_chain_filter.c v6.12); nft(8), "VERDICT STATEMENTS"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.netfilter.forward_not_accepted import list_roads, name_route
from podpath.checks.nft_forward import find_forward_refusal, find_named_refusal
from podpath.checks.nft_input import NftRefusal
from podpath.checks.told import (
    WORKLOADS,
    is_forwarding_asked,
    list_cut_from_forwarding,
    list_lost,
)
from podpath.net import nft, protocols
from podpath.net.complaints import Complaint
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.nftables import NftChain, NftRule, NftTable

CATEGORIES = (Category.FORWARD_POLICY, Category.HOST_FIREWALL)
NAME = "native-forward-drops"
POSSIBLE = 0.7
"""Where nothing says that what fails is forwarded."""
DEEPEST = 8
_BRIDGE = re.compile(r"\b(?:bridge|network) [`*\"']*(?P<device>[a-z][\w.-]*\d)\b", re.IGNORECASE)
"""A bridge by its name, which ends in a digit."""
_OF_THE_WORLD = ((protocols.UDP, 53), (protocols.TCP, 443), (protocols.TCP, 80))
_NAMES = frozenset({FailureKind.NAME_NOT_RESOLVED, FailureKind.NAME_SERVER_SILENT})
_FOLLOWING = frozenset({"established", "related", "untracked"})
_FAMILIES = frozenset({"ip", "inet"})
_ICMP = frozenset({"icmp", "icmpv6", "ipv6-icmp", "1", "58"})
_PROTOCOLS = frozenset({
    nft.Meta("l4proto"), nft.Payload("ip", "protocol"), nft.Payload("ip6", "nexthdr"),
})  # fmt: skip
_DEVICES = frozenset({
    nft.Meta("iif"), nft.Meta("iifname"), nft.Meta("oif"), nft.Meta("oifname"),
})  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    """Report the first such chain, where something is lost that the host may forward."""
    if not list_lost(case) or not is_forwarding_asked(case):
        return
    said = list_cut_from_forwarding(case)
    for table in case.node.host.nftables.items:
        for chain in table.chains.values():
            end = _find_end(table, chain)
            if end is not None:
                yield _report(table, chain, end, said)
                return
    yield from _find_refused(case)


def _find_refused(case: Case) -> Iterator[Finding]:
    """Report what refuses every port of a road that people say is cut off, whatever the chain
    accepts for others.
    """
    for road in list_roads(case):
        refused = [
            find_forward_refusal(case.node.host, road.route, protocol, port)
            for protocol, port in _list_ports(road.complaint)
        ]
        found = [one for one in refused if one is not None]
        if found and len(found) == len(refused):
            yield _report_refused(name_route(road.route), road.complaint, found[0])
            return
    yield from _find_named(case)


def _find_named(case: Case) -> Iterator[Finding]:
    """Report what refuses every port of workloads behind a bridge that a sentence names."""
    for complaint in list_lost(case):
        named = _BRIDGE.search(complaint.span.text)
        if named is None or complaint.source not in WORKLOADS:
            continue
        refused = [
            find_named_refusal(case.node.host, named["device"], protocol, port)
            for protocol, port in _list_ports(complaint)
        ]
        found = [one for one in refused if one is not None]
        if found and len(found) == len(refused):
            yield _report_refused(f"what comes in by {named['device']}", complaint, found[0])
            return


def _list_ports(complaint: Complaint) -> tuple[tuple[int, int], ...]:
    """Return the ports of what fails; of the outside world, those that everybody needs."""
    if complaint.ports:
        both = product((protocols.TCP, protocols.UDP), complaint.ports)
        return tuple(both)
    return _OF_THE_WORLD if complaint.failure not in _NAMES else _OF_THE_WORLD[:1]


def _report_refused(whose: str, complaint: Complaint, refusal: NftRefusal) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A chain at the hook forward ends with {refusal.target} for {whose}: its accepting "
            "rules are for other devices or ports."
        ),
        evidence=(refusal.span, complaint.span),
        reasoning=("What other chains accept does not count here.",),
        breaks=(f"forwarded packets of {whose}",),
        prevention="Accept the devices of containers in the file of the host's own rules.",
        certainty=1.0,
        marks=(refusal.target,),
    )


def _find_end(table: NftTable, chain: NftChain) -> Span | None:
    """Return what drops everything new in a base chain at the hook forward; None where something
    may be accepted before.
    """
    fits = chain.hook == "forward" and chain.type == "filter" and table.family in _FAMILIES
    if not fits or not table.is_active or not chain.complete:
        return None
    for rule in chain.rules:
        if _lets_new_in(table, rule, DEEPEST):
            return None
        if _ends_all(rule):
            return rule.span
    return chain.span if chain.policy == "drop" else None


def _ends_all(rule: NftRule) -> bool:
    """Tell whether a rule drops or rejects whatever comes to it."""
    plain = not any(isinstance(one, nft.NftMatch | nft.Limit | nft.Vmap) for one in rule.statements)
    dropped = any(
        isinstance(one, nft.NftReject) or (isinstance(one, nft.NftVerdict) and one.kind == "drop")
        for one in rule.statements
    )
    return plain and dropped and not rule.unread


def _lets_new_in(table: NftTable, rule: NftRule, depth: int) -> bool:
    """Tell whether a rule may let a new connection in."""
    if rule.unread:
        return True
    for one in rule.statements:
        if isinstance(one, nft.NftMatch) and _is_for_others(one):
            return False
        if isinstance(one, nft.NftVerdict):
            return _may_accept(table, one, depth)
        if isinstance(one, nft.Vmap):
            return _maps_new_in(table, one, depth)
        if isinstance(one, nft.Queue | nft.OpaqueStatement | nft.FlowOffload):
            return True
    return False


def _may_accept(table: NftTable, verdict: nft.NftVerdict, depth: int) -> bool:
    if verdict.kind in {"jump", "goto"}:
        inner = table.chains.get(verdict.chain)
        if inner is None or not inner.complete or depth == 0:
            return True
        return any(_lets_new_in(table, rule, depth - 1) for rule in inner.rules)
    return verdict.kind in {"accept", "queue"}


def _maps_new_in(table: NftTable, vmap: nft.Vmap, depth: int) -> bool:
    """Tell whether a map of verdicts may let a new connection in."""
    if not isinstance(vmap.data, nft.SetOf):
        return True
    for element in vmap.data.elements:
        follows = vmap.key == nft.Ct("state") and _texts(element.key) <= _FOLLOWING
        verdict = element.data if isinstance(element.data, nft.NftVerdict) else None
        if verdict is not None and not follows and _may_accept(table, verdict, depth):
            return True
    return False


def _is_for_others(match: nft.NftMatch) -> bool:
    """Tell whether a condition takes no new connection that is forwarded: replies, loopback and
    ICMP.
    """
    if match.op not in {"==", "in"}:
        return False
    texts = _texts(match.right)
    left = match.left
    if not texts:
        return False
    if isinstance(left, nft.Ct):
        return left.key == "state" and texts <= _FOLLOWING
    if left in _DEVICES:
        return texts == {"lo"}
    if isinstance(left, nft.Payload) and left.protocol in _ICMP:
        return True
    return left in _PROTOCOLS and texts <= _ICMP


def _texts(value: nft.Expression) -> frozenset[str]:
    """Return the words of a constant or of several; none where some are of another kind."""
    if isinstance(value, nft.SetOf):
        parts = [_texts(element.key) for element in value.elements]
        return frozenset().union(*parts) if all(parts) else frozenset()
    if isinstance(value, nft.Flags):
        return frozenset(one.text for one in value.items)
    return frozenset({value.text.strip('"')}) if isinstance(value, nft.Literal) else frozenset()


def _report(table: NftTable, chain: NftChain, end: Span, said: tuple[Span, ...]) -> Finding:
    place = f"{table.family} {table.name} {chain.name}"
    ask = FollowUp(
        "whether this host forwards the connection that fails",
        "nft list ruleset | grep -A8 'hook forward'; tcpdump -ni any host ADDRESS",
        f"it comes in and does not leave: {place} drops it",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The chain {place} drops every new connection that this host forwards.",
        evidence=(end, *said[:1]),
        reasoning=("No rule in it accepts one, and what other chains accept does not count here.",),
        breaks=("what pods, containers, guests and machines behind the host send beyond it",),
        prevention="Accept the devices of containers in the file of the host's own rules.",
        certainty=1.0 if said else POSSIBLE,
        asks=() if said else (ask,),
        marks=("drop",),
    )
