"""Clues of a case: how it fails, on which road, and what works beside it."""

from __future__ import annotations

import pytest

from podpath.diagnosis.clues import Contrast, ShownPart, TrafficKind, list_clues
from podpath.net import protocols
from podpath.net.complaints import Complaint, EndKind
from podpath.net.failures import Ending, FailureKind, Result
from podpath.net.probe import Probe
from podpath.net.technologies import Technology
from podpath.node.case import Attempt, Case
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node
from tests.checks.nodes import netns, node, span

FAILS = Complaint(
    span=span("it fails"),
    works=False,
    source=EndKind.POD,
    target=EndKind.SERVICE,
    failure=FailureKind.REFUSED,
    same_node=False,
)


def test_clues_come_from_complaints_and_contrasts() -> None:
    """How it fails, between which ends, and that ping works."""
    ping = Complaint(span=span("ping works"), works=True, protocol=protocols.ICMP)
    case = Case(
        node=node(netns("host")), complaints=(FAILS, ping), mentions=frozenset({Technology.VLAN})
    )

    assert {
        FailureKind.REFUSED,
        TrafficKind.TO_SERVICE,
        TrafficKind.OTHER_NODE,
        Contrast.PING_WORKS,
        Technology.VLAN,
    } <= list_clues(case)


def test_failed_attempt_is_a_clue_and_a_good_one_is_not() -> None:
    """An attempt on a good node says nothing of the failure."""
    failed = Attempt(
        probe=Probe.parse("udp 10.0.0.1 > 10.0.0.2:53"),
        result=FailureKind.TIMEOUT,
        span=span("timed out"),
    )
    good = Attempt(probe=failed.probe, result=FailureKind.REFUSED, span=failed.span, good=True)

    clues = list_clues(Case(node=node(netns("host")), attempts=(failed, good)))

    names = {FailureKind.NAME_SERVER_SILENT, FailureKind.NAME_NOT_RESOLVED}
    assert {FailureKind.TIMEOUT, TrafficKind.TO_NAME_SERVER, *names} == clues


def of(
    *complaints: Complaint, attempts: tuple[Attempt, ...] = (), made: Node | None = None
) -> set[object]:
    """Return the clues of a case."""
    shown = made if made is not None else given_node(given_netns("host", netns={"sysctls": {}}))
    bare = {ShownPart.POLICY_RULES, ShownPart.RULES}
    case = Case(node=shown, complaints=complaints, attempts=attempts)
    return {clue for clue in list_clues(case) if clue not in bare}


def between(source: EndKind | None, target: EndKind | None) -> set[object]:
    """Return the clues of a complaint that names these ends."""
    return of(Complaint(span=span("it fails"), works=False, source=source, target=target))


POD, NODE, WORLD, SERVICE = EndKind.POD, EndKind.NODE, EndKind.OUTSIDE, EndKind.SERVICE
ROADS = [
    (POD, POD, {TrafficKind.POD_TO_POD}),
    (POD, WORLD, {TrafficKind.TO_WORLD}),
    (POD, NODE, {TrafficKind.POD_TO_HOST}),
    (NODE, POD, {TrafficKind.NODE_TO_POD}),
    (NODE, NODE, {TrafficKind.HOST_TO_HOST}),
    (WORLD, POD, {TrafficKind.FROM_WORLD}),
    (WORLD, WORLD, {TrafficKind.TO_WORLD}),
    (POD, SERVICE, {TrafficKind.TO_SERVICE}),
    (SERVICE, None, {TrafficKind.TO_SERVICE}),
    (None, None, set[object]()),
]  # fmt: skip


@pytest.mark.parametrize(("source", "target", "roads"), ROADS)
def test_the_ends_that_people_name_say_the_road(
    source: EndKind | None, target: EndKind | None, roads: set[object]
) -> None:
    """From a pod, a node or the world, to one of them or a service."""
    assert roads == between(source, target)


def test_the_ends_of_an_attempt_say_the_road_by_their_addresses() -> None:
    """Pods' and the host's own; a name server is known by its port."""
    made = given_node(
        given_netns("host", "eth0 10.0.0.1/24"),
        given_netns("a", "eth0 10.1.0.2/32"),
        given_netns("b", "eth0 10.1.0.3/32"),
    )

    def tried(ends: str, result: Result = FailureKind.TIMEOUT) -> set[object]:
        attempt = Attempt(probe=Probe.parse(f"tcp {ends}"), result=result, span=span("tried"))
        return of(attempts=(attempt,), made=made) - {FailureKind.TIMEOUT}

    assert {TrafficKind.POD_TO_POD} == tried("10.1.0.2 > 10.1.0.3:80")
    assert {TrafficKind.NODE_TO_POD} == tried("10.0.0.1 > 10.1.0.3:80")
    assert {TrafficKind.POD_TO_HOST} == tried("10.1.0.2 > 10.0.0.1:80")
    assert set() == tried("10.1.0.2 > 203.0.113.9:80")
    assert set() == tried("10.0.0.1 > 203.0.113.9:80")
    assert TrafficKind.TO_NAME_SERVER in tried("10.0.0.1 > 203.0.113.9:53")
    assert FailureKind.NAME_SERVER_SILENT not in tried("10.1.0.2 > 203.0.113.9:80")


def ping(result: Result, protocol: str = "icmp") -> Attempt:
    """Let a ping be tried."""
    port = "" if protocol == "icmp" else ":80"
    probe = Probe.parse(f"{protocol} 10.0.0.1 > 10.0.0.2{port}")
    return Attempt(probe=probe, result=result, span=span("ping"))


def test_pings_beside_it_are_contrasts() -> None:
    """One that works, one that fails, or both; one that was interrupted is neither."""
    contrasts = {Contrast.PING_WORKS, Contrast.PING_FAILS}
    fails, works, cut = (
        ping(result) for result in (FailureKind.TIMEOUT, Ending.OK, Ending.INTERRUPTED)
    )

    assert {Contrast.PING_FAILS} == of(attempts=(fails,)) & contrasts
    assert {Contrast.PING_WORKS} == of(attempts=(works,)) & contrasts
    assert contrasts == of(attempts=(fails, works)) & contrasts
    assert set() == of(attempts=(cut, ping(FailureKind.TIMEOUT, "tcp"))) & contrasts


def test_what_outputs_show_is_a_clue() -> None:
    """Rules of filter and of nat, routes of IPv6, sysctls and those that forward."""
    forwarding = given_netns("host", sysctls={"net.ipv4.conf.eth0.forwarding": "1"})
    quiet = given_netns("host", sysctls={"a.b": "1"})
    six = given_netns("host", "eth0", routes=["fd00::/64 dev eth0"])

    assert {ShownPart.SYSCTLS, ShownPart.FORWARDS} == of(made=given_node(forwarding))
    assert {ShownPart.SYSCTLS} == of(made=given_node(quiet))
    assert {ShownPart.IPV6} == of(made=given_node(six))
    assert set() == of(made=given_node(given_netns("host", "eth0", routes=["10.0.0.0/8 dev eth0"])))
