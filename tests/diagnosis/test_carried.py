"""What any node should carry: drops that nobody can mean are faults, what may be meant is
suspected, the rest let be.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.diagnosis.carried import SUSPECTED, find_broken, find_complained, tell_walked
from podpath.diagnosis.complained import ChosenBy, place_complaints
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.flows import BaselineKind, list_flows
from podpath.diagnosis.verdict import Verdict
from podpath.diagnosis.worlds import World
from podpath.net.addresses import IfName
from podpath.net.provenance import Known
from podpath.node.netfilter import InterfaceMatch
from podpath.node.node import Node
from tests.checks.nodes import chain, rule, table
from tests.diagnosis.scenes import bridged_node, case, whole
from tests.diagnosis.test_complained import complain


def with_drop(name: str, out_link: str = "") -> Node:
    """Return pods on a bridge with a rule that drops what they send, in FORWARD or in a chain that
    FORWARD jumps to.
    """
    made = bridged_node("1")
    drop = rule(name, 1, "DROP", in_link="cni0")
    drop = drop._replace(out_link=InterfaceMatch(IfName(out_link))) if out_link else drop
    chains = (
        [chain("FORWARD", drop)]
        if name == "FORWARD"
        else [chain("FORWARD", rule("FORWARD", 1, name)), chain(name, drop)]
    )
    netfilter = made.host.netfilter[4]
    filtered = replace(netfilter, tables=(*netfilter.tables, table("filter", *chains)))
    host = replace(made.host, netfilter={**made.host.netfilter, 4: filtered})
    return replace(made, namespaces={**made.namespaces, "host": host})


def test_a_drop_between_pods_is_a_fault_without_a_question() -> None:
    """Pods reach pods: an admin's rule that drops that is named with certainty."""
    answer = diagnose(case(whole(with_drop("FORWARD"))))
    assert Verdict.FAULT == answer.verdict
    assert ("dropped-by-rule", 1.0) == (answer.findings[0].check, answer.findings[0].certainty)


@pytest.mark.parametrize(
    "name", ["KUBE-POD-FW-ABCDEFGH", "cali-tw-cali1234", "DOCKER-ISOLATION-STAGE-2", "WEAVE-NPC"]
)
def test_a_policy_engines_drop_is_let_be(name: str) -> None:
    """Such chains are there to drop: nothing is blamed, and nothing is cleared."""
    answer = diagnose(case(whole(with_drop(name))))
    assert (Verdict.POSSIBLE, ()) == (answer.verdict, answer.findings)


def test_what_may_be_kept_from_the_world_is_suspected() -> None:
    """A firewall may keep pods from the world: it is named as a possibility."""
    answer = diagnose(case(whole(with_drop("FORWARD", "eth0"))))
    assert Verdict.POSSIBLE == answer.verdict
    assert [("dropped-by-rule", SUSPECTED)] == [
        (finding.check, finding.certainty) for finding in answer.findings
    ]


def test_a_sound_node_breaks_nothing() -> None:
    """Each connection is carried, and the answer says which were walked."""
    made = whole(bridged_node("1"))
    flows = list_flows(made)
    assert ((), ()) == find_broken(World(made), flows)
    assert {
        BaselineKind.NODE_TO_POD,
        BaselineKind.POD_TO_POD,
        BaselineKind.TO_SERVICE,
        BaselineKind.TO_WORLD,
    } == {flow.kind for flow in flows}
    said = tell_walked(flows)
    assert f"{BaselineKind.POD_TO_POD.value}: 2" in said
    assert said in diagnose(case(made)).notes


def test_a_complaint_whose_ends_are_named_is_a_fault_and_another_is_suspected() -> None:
    """A policy may keep out on purpose whom the evidence has several of."""
    made = complain("From pod 10.1.0.2 a curl to 10.2.0.2:8080 times out.", forward="0")
    (meant,) = place_complaints(made)
    guessed = replace(
        meant, choices=tuple(choice._replace(how=ChosenBy.FIRST) for choice in meant.choices)
    )
    base = World(made.node, ())

    faults, suspected = (find_complained(base, (one,)) for one in (meant, guessed))

    assert (1, 0) == (len(faults.faults), len(faults.suspected))
    assert (0, 1) == (len(suspected.faults), len(suspected.suspected))


def test_a_pod_that_does_not_answer_on_the_bridge_is_a_fault() -> None:
    """It ignores what it is asked by ARP: the node's own connections to it are lost."""
    made = whole(bridged_node("1"))
    silent = {"net.ipv4.conf.eth0.arp_ignore": Known("8")}
    pod = replace(made.namespaces["pod-2"], sysctls=silent)
    base = World(replace(made, namespaces={**made.namespaces, "pod-2": pod}))
    faults = find_broken(base, list_flows(made)).faults

    assert ("host", "10.22.0.6") in {(one.probe.netns, str(one.probe.dst)) for one in faults}
