"""Clues of a case: how it fails, on which road, and what works beside it."""

from __future__ import annotations

from podpath.diagnosis.clues import Contrast, TrafficKind, list_clues
from podpath.net import protocols
from podpath.net.complaints import Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.probe import Probe
from podpath.net.technologies import Technology
from podpath.node.case import Attempt, Case
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
