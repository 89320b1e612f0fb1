"""Answers from the node where it breaks."""

from __future__ import annotations

from podpath.checks.finding import Finding, Severity
from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.across import (
    NodeView,
    _assumed_wires,
    diagnose_across,
    is_own,
    keep_own,
    see_from,
    touched,
)
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.verdict import Verdict
from podpath.net.probe import Probe
from podpath.node.case import Case
from podpath.node.cluster import Cluster, move_node
from podpath.testing.nodes import given_netns, given_node, span
from tests.clusters import NODES, healthy
from tests.datapath.devices.test_underlay import PROBE as CROSSING
from tests.datapath.devices.test_underlay import routed

PROBE = Probe.parse("tcp 10.244.1.2 > 10.244.0.3:8080 from web-node1")


def test_a_view_holds_all_nodes_and_what_is_its_own() -> None:
    """Sources tell whose a line is; a connection is followed over the nodes that it touches."""
    cases = {name: case.facts for name, case in healthy().items()}
    sources = {name: frozenset(case.sources) for name, case in healthy().items()}
    moved = {name: move_node(name, case.node) for name, case in cases.items()}
    views = {name: see_from(cases, sources, name, moved) for name in NODES}

    assert "node2/far" in views["node1"].case.node.namespaces
    assert "node1/web-node1" in views["node2"].case.node.namespaces
    assert touched(views["node1"], PROBE) == ("node1", "node2")
    near = cases["node1"].node.host.links.items[1].span
    far = cases["node2"].node.host.links.items[1].span
    assert near is not None
    assert far is not None
    own, others = (
        Finding(check="x", severity=Severity.CAUSE, claim="x", evidence=(line,))
        for line in (near, far)
    )
    assert is_own(views["node1"], own)
    assert not is_own(views["node1"], others)
    told = Diagnosis(verdict=Verdict.FAULT, findings=(own, others))
    assert keep_own(views["node1"], told).findings == (own,)
    assert keep_own(views["node2"], told).verdict is Verdict.FAULT
    elsewhere = Finding(check="x", severity=Severity.CAUSE, claim="x", evidence=(span("x"),))
    left = keep_own(views["node1"], Diagnosis(verdict=Verdict.FAULT, findings=(elsewhere,)))
    assert left.verdict is Verdict.POSSIBLE


def test_a_finding_without_a_line_is_of_the_view_that_made_it() -> None:
    """Nothing says that it is of another node."""
    cases = {name: case.facts for name, case in healthy().items()}
    sources = {name: frozenset(case.sources) for name, case in healthy().items()}
    moved = {name: move_node(name, case.node) for name, case in cases.items()}
    view = see_from(cases, sources, "node1", moved)

    assert is_own(view, Finding(check="x", severity=Severity.CAUSE, claim="x", evidence=()))


def test_a_connection_within_one_node_touches_that_node() -> None:
    """Namespaces that no node lends are the view's own."""
    host = given_netns("host", "a peer pod:eth0 10.1.0.1/24")
    pod = given_netns("pod", "eth0 10.1.0.2/24 peer host:a")
    case = Case(node=given_node(host, pod))
    view = NodeView(name="node9", case=case, own=case, sources=frozenset())

    assert ("node9",) == touched(view, Probe.parse("tcp 10.1.0.2 > 10.1.0.1:80 from pod"))


def test_a_wire_that_was_taken_to_deliver_is_told() -> None:
    """What stands between the nodes no evidence of either shows."""
    joined = Cluster(nodes={"a": routed(0), "b": routed(1)}).seen_from("a")

    assert _assumed_wires([converse(joined, CROSSING)])
    assert () == _assumed_wires([])


def test_an_answer_names_the_node_that_it_is_of_unless_nothing_is_wrong() -> None:
    """What is undecided is asked of that node."""
    host = given_netns("host", "a peer pod:eth0 10.1.0.1/24")
    pod = given_netns("pod", "eth0 10.1.0.2/24 peer host:a")
    case = Case(node=given_node(host, pod))
    view = NodeView(name="node9", case=case, own=case, sources=frozenset())
    answer = diagnose_across([(view, Probe.parse("tcp 10.1.0.2 > 10.1.0.1:80 from pod"))])

    assert (Verdict.POSSIBLE, "node9") == (answer.verdict, answer.node)
