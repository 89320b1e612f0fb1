"""What a case tells of the failure that is asked about, as a set of clues: how it fails, on which
road, and what is spoken of.

Clues choose questions. They never decide what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from podpath.net import protocols
from podpath.net.complaints import Complaint, EndKind
from podpath.net.failures import NAMES, Ending, FailureKind, is_failure
from podpath.net.messages import DAILY_LIFE
from podpath.net.technologies import Technology
from podpath.node.case import Attempt, Case
from podpath.node.node import HOST, Netns, Node


class TrafficKind(StrEnum):
    """Between which sorts of ends something fails."""

    POD_TO_POD = "from pod to pod"
    OTHER_NODE = "between nodes"
    SAME_NODE = "within one node"
    TO_SERVICE = "to a service"
    TO_NAME_SERVER = "to the name server"
    TO_API_SERVER = "to the API server"
    TO_WORLD = "to the outside"
    FROM_WORLD = "from the outside"
    NODE_TO_POD = "from node to pod"
    POD_TO_HOST = "from pod to host"
    HOST_TO_HOST = "between hosts"
    GUEST = "of a virtual machine"


class Contrast(StrEnum):
    """What works beside what fails."""

    PING_WORKS = "ping works"
    SOME_WORK = "others work"
    PING_FAILS = "ping fails"


class ShownPart(StrEnum):
    """What outputs show in part: an expert asks on from what somebody thought worth showing."""

    RULES = "rules of a firewall"
    NAT = "rules that translate"
    POLICY_RULES = "policy rules"
    IPV6 = "routes or addresses of IPv6"
    CONNTRACK = "entries of conntrack"
    DISAGREEMENT = "outputs that disagree"
    LINES = "lines of logs that name a fault"
    SYSCTLS = "sysctls"
    FORWARDS = "a switch of forwarding"


Clue = FailureKind | TrafficKind | Contrast | Technology | ShownPart

DNS_PORT = 53
_WORKLOADS = frozenset({EndKind.POD, EndKind.CONTAINER})
_MACHINES = frozenset({EndKind.NODE, EndKind.GUEST})
_ROADS: dict[EndKind, TrafficKind] = {
    EndKind.SERVICE: TrafficKind.TO_SERVICE,
    EndKind.NAME_SERVER: TrafficKind.TO_NAME_SERVER,
    EndKind.API_SERVER: TrafficKind.TO_API_SERVER,
    EndKind.NODE_PORT: TrafficKind.FROM_WORLD,
    EndKind.LOAD_BALANCER: TrafficKind.FROM_WORLD,
}
_SPOKEN: dict[Technology, TrafficKind] = {
    Technology.NODE_PORT: TrafficKind.FROM_WORLD,
    Technology.METALLB: TrafficKind.FROM_WORLD,
}


def list_clues(case: Case) -> frozenset[Clue]:
    """Return the clues of a case."""
    failing = [complaint for complaint in case.complaints if not complaint.works]
    clues: set[Clue] = set(case.mentions)
    for complaint in failing:
        clues |= set(_of_complaint(complaint))
    for attempt in case.attempts:
        if attempt.is_bad:
            clues |= set(_of_attempt(attempt, case.node))
    clues |= {one.result for one in case.unplaced if isinstance(one.result, FailureKind)}
    clues |= set(_contrasts(case))
    clues |= set(_shown(case))
    clues |= {road for mention, road in _SPOKEN.items() if mention in case.mentions}
    clues |= {FailureKind.NAME_NOT_RESOLVED} if clues & NAMES else set()
    return frozenset(clues)


def _of_complaint(complaint: Complaint) -> Iterator[Clue]:
    if complaint.failure is not None:
        yield complaint.failure
    source, target = complaint.source, complaint.target
    if target is not None and target in _ROADS:
        yield _ROADS[target]
    elif source is not None and source in _ROADS and target is None:
        yield _ROADS[source]
    if source in _WORKLOADS and target in _WORKLOADS:
        yield TrafficKind.POD_TO_POD
    if source in {*_WORKLOADS, EndKind.OUTSIDE} and target is EndKind.OUTSIDE:
        yield TrafficKind.TO_WORLD
    if source in _WORKLOADS and target in _MACHINES:
        yield TrafficKind.POD_TO_HOST
    if source in _MACHINES and target in _WORKLOADS:
        yield TrafficKind.NODE_TO_POD
    if source in _MACHINES and target in _MACHINES:
        yield TrafficKind.HOST_TO_HOST
    if source is EndKind.OUTSIDE and target is not EndKind.OUTSIDE:
        yield TrafficKind.FROM_WORLD
    if EndKind.GUEST in {source, target}:
        yield TrafficKind.GUEST
    if complaint.same_node is not None:
        yield TrafficKind.SAME_NODE if complaint.same_node else TrafficKind.OTHER_NODE


def _of_attempt(attempt: Attempt, node: Node) -> Iterator[Clue]:
    probe = attempt.probe
    if isinstance(attempt.result, FailureKind):
        yield attempt.result
    if attempt.failed and probe.dport == DNS_PORT:
        yield FailureKind.NAME_SERVER_SILENT
    services = {address for service in node.services for address in service.addresses}
    if probe.dst in services:
        yield TrafficKind.TO_SERVICE
    if probe.dport == DNS_PORT:
        yield TrafficKind.TO_NAME_SERVER
    source, target = node.find_holder(probe.src), node.find_holder(probe.dst)
    if source not in {None, HOST} and target not in {None, HOST}:
        yield TrafficKind.POD_TO_POD
    if source == HOST and target not in {None, HOST}:
        yield TrafficKind.NODE_TO_POD
    if source not in {None, HOST} and target == HOST:
        yield TrafficKind.POD_TO_HOST


def _contrasts(case: Case) -> Iterator[Clue]:
    pings = _pings((one.works, one.protocol) for one in case.complaints)
    pings |= _pings(
        (not is_failure(one.result), one.probe.protocol)
        for one in case.attempts
        if one.result is not Ending.INTERRUPTED
    )
    if True in pings:
        yield Contrast.PING_WORKS
    if False in pings:
        yield Contrast.PING_FAILS
    if any(one.works for one in case.complaints):
        yield Contrast.SOME_WORK


def _shown(case: Case) -> Iterator[Clue]:
    """Yield what the outputs of any namespace show, whole or in part."""
    for netns in case.node.namespaces.values():
        yield from _shown_rules(netns)
        if any(rule.span is not None for rule in netns.rules.items):
            yield ShownPart.POLICY_RULES
        stated = [route for route in netns.routes.items if route.span is not None]
        if any(route.prefix.family == 6 for route in stated):
            yield ShownPart.IPV6
        if netns.conntrack.items:
            yield ShownPart.CONNTRACK
        if netns.sysctls:
            yield ShownPart.SYSCTLS
        if any(key.endswith((".ip_forward", ".forwarding")) for key in netns.sysctls):
            yield ShownPart.FORWARDS
    if case.contradictions:
        yield ShownPart.DISAGREEMENT
    if any(message.kind not in DAILY_LIFE for message in case.messages):
        yield ShownPart.LINES


def _shown_rules(netns: Netns) -> Iterator[Clue]:
    if netns.nftables.items:
        yield ShownPart.RULES
    for netfilter in netns.netfilter.values():
        for table in netfilter.tables:
            yield ShownPart.NAT if table.name == "nat" else ShownPart.RULES


def _pings(tried: Iterable[tuple[bool, int | None]]) -> set[bool]:
    """Return what came of pings: whether any worked, and whether any failed."""
    return {works for works, protocol in tried if protocol in {protocols.ICMP, protocols.ICMPV6}}
