"""What is found of one pod is told of all that are alike, and nothing is told of a pod that its own
walk would not say.
"""

from __future__ import annotations

import json

from bench.converse import assemble_node
from bench.kube_proxy_ruleset import emit_ruleset, generate_services
from podpath.flows.flow import FlowSet
from podpath.library.case import Case, NodeCase
from podpath.net.addresses import Address
from podpath.node.case import Case as Facts
from podpath_fleet.alike_sources import TARGET
from podpath_fleet.reach_answers import ReachWalker
from podpath_fleet.reached import compare_reach, reach
from tests.fleet.alike import sample_alike
from tests.seeds import fresh_seed

PODS = [Address.parse(f"10.244.250.{number}") for number in (4, 5, 6, 7)]
POD_NETWORK = FlowSet((), ("10.244.250.0/24",), ("tcp",), "80")
SERVICES = FlowSet((), ("10.96.0.0/24",), ("tcp",))
DROPPED = "-A FORWARD -s 10.244.250.6/32 -p tcp -j DROP"


def build(*rules: str, behind: str = "10.244.7.3:8080") -> Case:
    """Return a node with four pods, ten services and some rules; the first service has one
    endpoint.
    """
    services = [one._replace(port=80) for one in generate_services(10, 1)]
    services[0] = services[0]._replace(endpoints=(behind,))
    text = emit_ruleset(services).replace(
        "-A KUBE-FIREWALL", "\n".join((*rules, "-A KUBE-FIREWALL")), 1
    )
    return Case(nodes=(NodeCase(name="", facts=Facts(node=assemble_node(text, PODS))),))


def test_each_header_of_each_pod_is_walked_as_its_class_says() -> None:
    """On nodes where pods, rules and routes are disturbed, from pods that nobody walked."""
    seed = fresh_seed()
    tally = sample_alike(range(seed, seed + 3), 1)

    assert tally.wrong == []
    assert tally.packets > 0


def test_four_pods_are_told_once() -> None:
    """Those that get no answer, those that reach each other, and each to itself."""
    found = reach(build(), POD_NETWORK)
    document = json.loads(found.json())
    between = next(one for one in document["sets"] if TARGET in " ".join(one["ends"]))

    assert found.complete
    assert "from pod, and 3 pods alike" in found.text()
    assert between["netns"] == "pod"
    assert between["headers"][0]["dst"] == ["10.244.250.5", "10.244.250.6/31"]
    assert between["alike"] == [
        {"netns": f"pod{number}", "src": f"10.244.250.{number + 4}"} for number in (1, 2, 3)
    ]
    assert sum(one.size for one in found.sets) == 256 * 28232


def test_one_pod_as_target_is_asked_of_all_others_and_by_itself() -> None:
    """What others send to it is not what it sends to itself, though all of them are alike."""
    network = "10.244.250.0/24"
    barred = f"-A FORWARD -s {network} -d {network} -p tcp -j DROP"
    found = reach(build(barred), POD_NETWORK._replace(targets=(str(PODS[0]),)))
    sources = {str(one.space.sample.netns): one for one in found.sets}

    assert found.complete
    assert all(one.regions[0].dst == ((PODS[0].value,) * 2,) for one in found.sets)
    assert sources["pod"].space.alike == ()
    assert sources["pod"].answer.row.text == ""
    assert sources["pod1"].answer.row.verdict == "NEVER"
    assert sources["pod1"].answer.row.text == barred
    assert found.exit_code == 1


def test_a_pod_that_a_rule_names_is_walked_by_itself() -> None:
    """A rule drops its own connections, another one those of all others to it."""
    barred = "-A FORWARD -d 10.244.250.6/32 -p tcp -j REJECT"
    found = reach(build(DROPPED, barred), POD_NETWORK)
    own = [one for one in found.sets if one.space.sample.netns == "pod2"]
    others = [one for one in found.sets if one.space.sample.netns == "pod"]

    assert {one.answer.row.text for one in own if one.answer.row.line} == {DROPPED}
    assert all(not one.space.alike for one in own)
    assert any(one.answer.row.text == barred and one.space.alike for one in others)


def test_the_service_that_a_pod_is_behind_is_walked_for_each() -> None:
    """The rule that marks a pod's own packets is one of a chain that names it."""
    case = build(behind="10.244.250.6:8080")
    found = reach(case, SERVICES)
    alone = ReachWalker(case, watched=False)
    own = [
        one for space, classes in found.enumerations if not space.alike for one in classes.classes
    ]

    assert found.complete
    assert {str(one.witness.dst) for one in own} == {"10.96.0.0"}
    assert len(own) >= 4
    assert all(alone.walk_alone(one.witness) == one.answer for one in own)


def test_what_changed_for_all_is_told_once_and_for_one_of_that_one() -> None:
    """A rule about all pods and a rule about one of them came."""
    all_pods = "-A FORWARD -s 10.244.250.0/24 -d 10.244.7.3/32 -j DROP"
    question = FlowSet((), ("10.244.7.0/29",), ("tcp",), "80")
    (change,) = compare_reach(build(), build(all_pods), question).changes
    only = compare_reach(build(), build(DROPPED), question)

    assert [one.netns for one in change.space.alike] == ["pod1", "pod2", "pod3"]
    assert change.after.row.text == all_pods
    assert {one.space.sample.netns for one in only.changes} == {"pod2"}
    assert {one.after.row.text for one in only.changes} == {DROPPED}
    assert compare_reach(build(), build(), question).changes == ()


def test_a_bound_on_walks_leaves_the_same_unknown_for_all() -> None:
    """What nobody walked of the first is not tried for each of the others."""
    found = reach(build(), POD_NETWORK, walks=1)

    assert not found.complete
    assert len(found.enumerations) == 1
    ((space, classes),) = found.enumerations
    assert len(space.alike) == 3
    left = sum(region.size for region in classes.left)
    assert left + sum(one.size for one in found.sets) == 256 * 28232
