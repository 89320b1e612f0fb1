"""forward-not-accepted: FORWARD accepts only for one engine's bridges, and drops packets of another
engine's guests or of machines behind the host.

What it is
    The policy of FORWARD is DROP (Docker sets it when it turns forwarding on), or its last rule
    drops or rejects everything, and every accepting rule above it is for other devices than those
    that the lost traffic uses.

Why it breaks
    The policy applies to what no rule accepts. Docker accepts only for docker0 and its br-...
    devices; packets of LXC, LXD or libvirt guests, of VPN peers, and of machines that use the host
    as a router traverse the same chain.

How to confirm
    iptables -L FORWARD -n -v --line-numbers     # the policy counts what it drops

How to fix
    Accept the device before the policy decides (in DOCKER-USER on a host with Docker):
        iptables -I DOCKER-USER -i DEVICE -j ACCEPT; iptables -I DOCKER-USER -o DEVICE -j ACCEPT
    or set the policy back to ACCEPT: iptables -P FORWARD ACCEPT

References
    docs.docker.com "Packet filtering and firewalls"; ipt_do_table (net/ipv4/netfilter/ip_tables.c)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import chains_named, lets_new_in
from podpath.checks.forwarded import (
    DevicePath,
    Family,
    ForwardEnd,
    family_of,
    find_end,
    find_end_between,
)
from podpath.checks.told import BEHIND, LOSSES, find_told, is_forwarded, list_failing
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Table

CATEGORIES = (Category.FORWARD_POLICY, Category.HOST_FIREWALL, Category.RULE_ORDER)
NAME = "forward-not-accepted"
POSSIBLE, QUOTED = 0.6, 3
_DEVICE = re.compile(r"[a-z][a-z-]{1,9}\d{1,4}(?:[a-z]{1,3}\d{1,4}){0,3}(?:\.\d{1,4})?")
_MADE_BY = {
    EndKind.GUEST: {Technology.KVM: Family.LIBVIRT, Technology.LXC: Family.LXC},
    EndKind.CONTAINER: {
        Technology.LXC: Family.LXC, Technology.PODMAN: Family.PODMAN,
        Technology.DOCKER: Family.DOCKER,
    },
    EndKind.POD: {Technology.KUBERNETES: Family.PODS},
}  # fmt: skip
"""By what is cut off and which software its sentence, or else the ticket, speaks of."""
_USUAL = {EndKind.POD: Family.PODS}
_OF_PODS = frozenset({EndKind.POD, EndKind.NODE, None})
_BETWEEN_PODS = (
    DevicePath(None, Family.PODS),
    (DevicePath(Family.PODS, None), DevicePath(Family.PODS, Family.PODS)),
)
"""By which devices what pods of two nodes say to each other passes one of them."""
_REJECTED = frozenset({
    FailureKind.REFUSED, FailureKind.NO_ROUTE_TO_HOST, FailureKind.NETWORK_UNREACHABLE,
    FailureKind.UNREACHABLE, None,
})  # fmt: skip
_DROPPED = frozenset({None, *LOSSES})
ASK = FollowUp(
    "which devices the accepting rules of FORWARD are for, and whether its policy counts packets",
    "iptables -L FORWARD -n -v --line-numbers",
    "none is for the device that is cut off, and the policy's counter grows: that drops it",
)


class CutRoad(NamedTuple):
    """What people say is cut off, by the devices that it takes."""

    complaint: Complaint
    route: DevicePath
    others: tuple[DevicePath, ...] = ()
    """Other devices by which the same may come in or leave: an overlay's, or the card itself."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first road that people say is cut off and that no rule of FORWARD accepts."""
    chains = [
        (table, chain)
        for table, chain in chains_named(case.node.host, "filter", "FORWARD")
        if table.family == 4 and any(map(lets_new_in, chain.rules))
    ]
    for road in list_roads(case):
        for table, chain in chains:
            found = [find_end(table, chain, route) for route in (road.route, *road.others)]
            end = found[0]
            if end is not None and None not in found and _may_be_felt(end, road.complaint):
                yield _report(case, road, chain, end)
                return
    yield from _find_between_devices(case, chains)


def _find_between_devices(case: Case, chains: Sequence[tuple[Table, Chain]]) -> Iterator[Finding]:
    """Report the first sentence that names two devices between which packets are lost, of which
    FORWARD accepts neither direction. It stays possible: the host's part in it is not stated.
    """
    rows = ((one, names) for one in list_failing(case) if (names := _name_devices(case, one)))
    for complaint, names in rows:
        for table, chain in chains:
            ends = [find_end_between(table, chain, *pair) for pair in permutations(names)]
            if None in ends or ends[0] is None or not _may_be_felt(ends[0], complaint):
                continue
            road = CutRoad(complaint, DevicePath(None, None))
            yield _report(case, road, chain, ends[0]._replace(sure=False))
            return


def _name_devices(case: Case, complaint: Complaint) -> tuple[str, ...]:
    """Return the two devices that a sentence names, of which a rule or the host has one at least;
    nothing where it names fewer or more.
    """
    known = {str(link.name) for link in case.node.host.links.items}
    for _, chain in chains_named(case.node.host, "filter", "FORWARD"):
        for rule in chain.rules:
            known.update(link.name for link in (rule.in_link, rule.out_link) if link is not None)
    words = sorted(word for word in complaint.words if _DEVICE.fullmatch(word))
    told = known & set(words) or any(family_of(word) is not None for word in words)
    return tuple(words) if len(words) == 2 and told else ()


def list_roads(case: Case) -> Iterator[CutRoad]:
    """Yield the roads that the host forwards, one for each family of devices that is meant."""
    vpn = find_told(case, Circumstance.SERVES_VPN)
    router = find_told(case, Circumstance.ROUTES_FOR_OTHERS)
    for complaint in list_failing(case):
        source, target = complaint.source, complaint.target
        family = _find_family(case, complaint)
        away = target is EndKind.OUTSIDE or (is_forwarded(complaint) and source is target)
        if complaint.same_node is False and {source, target} <= _OF_PODS and source is EndKind.POD:
            yield CutRoad(complaint, *_BETWEEN_PODS)
        elif source in _MADE_BY and away and family is not None:
            yield CutRoad(complaint, DevicePath(family, None))
        elif _comes_from_others(complaint) and target in {*_MADE_BY, EndKind.NODE_PORT}:
            if family is not None:
                translated = target is EndKind.NODE_PORT or source is EndKind.OUTSIDE
                overlay = DevicePath(family, family, translated)
                others = (overlay,) if family is Family.PODS else ()
                yield CutRoad(complaint, DevicePath(None, family, translated), others)
        elif source in BEHIND and target is EndKind.OUTSIDE:
            if vpn is not None:
                yield CutRoad(complaint, DevicePath(Family.VPN, None))
            elif router is not None:
                yield CutRoad(complaint, DevicePath(None, None))


def _comes_from_others(complaint: Complaint) -> bool:
    """Tell whether it comes in from another machine: the outside world, or another node."""
    other = complaint.source is EndKind.NODE and complaint.same_node is False
    return other or complaint.source is EndKind.OUTSIDE


def _find_family(case: Case, complaint: Complaint) -> Family | None:
    """Return whose devices are meant: those that a sentence names, or those of the one software
    that it, or else the ticket, speaks of.
    """
    named = {family for word in complaint.words if (family := family_of(word)) is not None}
    if named:
        return named.pop() if len(named) == 1 else None
    end = complaint.source if complaint.source in _MADE_BY else complaint.target
    if end is None or end not in _MADE_BY:
        return None
    for mentions in (complaint.mentions, case.mentions):
        meant = [family for one, family in _MADE_BY[end].items() if one in mentions]
        if meant:
            return meant[0] if len(meant) == 1 or Family.DOCKER in meant[1:] else None
    return _USUAL.get(end)


def _may_be_felt(end: ForwardEnd, complaint: Complaint) -> bool:
    return complaint.failure in (_DROPPED if end.target == "DROP" else _REJECTED)


def _report(case: Case, road: CutRoad, chain: Chain, end: ForwardEnd) -> Finding:
    accepting = [rule.span for rule in chain.rules if lets_new_in(rule)]
    whole = not any("|" in (span.source.command or "") for span in (end.span, *accepting))
    sure = end.sure and whole and not _is_elsewhere(case)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"FORWARD ends with {end.target} for what no rule accepts, and none of the "
        f"{len(accepting)} accepting rules is for {name_route(road.route)}.",
        evidence=_list_evidence(road, end, accepting),
        reasoning=("Rules for the devices of one engine match nobody else's packets.",),
        breaks=(f"forwarded packets of {name_route(road.route)}",),
        repairs=(
            Repair(
                title="accept their device before the chain ends",
                commands=(
                    "iptables -I FORWARD -i DEVICE -j ACCEPT",
                    (
                        "iptables -I FORWARD -o DEVICE -m conntrack --ctstate RELATED,ESTABLISHED "
                        "-j ACCEPT"
                    ),
                ),
            ),
        ),
        prevention="Keep the rules where the engine leaves them alone: in DOCKER-USER.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        marks=("DROP",) if end.target == "DROP" else (end.target,),
        explains=frozenset(one for one in _DROPPED | _REJECTED if one is not None),
    )


def _list_evidence(road: CutRoad, end: ForwardEnd, accepting: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(dict.fromkeys((end.span, *accepting[:QUOTED], road.complaint.span)))


def name_route(route: DevicePath) -> str:
    """Say whose packets take a road."""
    words = {
        Family.DOCKER: "Docker's containers",
        Family.LIBVIRT: "libvirt's guests",
        Family.LXC: "the containers of LXC",
        Family.PODMAN: "Podman's containers",
        Family.PODS: "pods",
        Family.VPN: "peers of the VPN",
        None: "machines behind this host",
    }
    return words[route.comes or route.leaves]


def _is_elsewhere(case: Case) -> bool:
    """Tell whether other tables may accept or drop as well: more than one flavor is shown."""
    flavors = {
        table.flavour
        for one in case.node.host.netfilter.values()
        for table in one.tables
        if table.name == "filter"
    }
    return len(flavors) > 1
