"""Flows that stand for sets: what `check` says of one is what it says of all that it stands for,
and what `diff` asks about are all ways in which two nodes differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from bench.converse import POD, assemble_node
from bench.kube_proxy_ruleset import emit_ruleset, generate_services
from podpath.datapath.walk.compiled import Engine
from podpath.flows.compared import name_deciders
from podpath.flows.flow import FlowSet
from podpath.flows.judged import FlowState, walk_flow
from podpath.library.case import Case, NodeCase
from podpath.library.diff import diff
from podpath.library.flows import ChangeFile, check
from podpath.library.given import Pasted
from podpath.library.progress import silent
from podpath.library.reading import read
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.net.provenance import Listing
from podpath.node.case import Case as Facts
from podpath_fleet.flow_witnesses import judge_flow, list_answered, list_judged
from podpath_fleet.reach_answers import ReachWalker
from podpath_fleet.shared_branches import enumerate_space
from podpath_lab.cases.generate import generate_case
from tests.fleet.sampled import draw_probe, space_around
from tests.fleet.served import NEIGHBOR, make_served_case
from tests.flows.samples import DROP, given_case, given_sound_node
from tests.library.samples import NO_FORWARDING

PODS_TO_WEB = Pasted(
    '[[flow]]\nname = "pods"\nfrom = "pods"\nto = "10.1.0.0/24"\nport = [80, "90-99"]\n'
    'expect = "connects"\n',
    "sets.toml",
)
OUTSIDE = Pasted(
    '[[flow]]\nname = "outside"\nfrom = "198.51.0.0/16"\ndevice = "eth0"\nto = "10.1.0.2"\n'
    'port = [80, 443]\nexpect = "connects"\n',
    "sets.toml",
)


def _list_cases() -> Iterator[tuple[Case, Probe]]:
    for seed in range(7100, 7103):
        made = generate_case(seed)
        yield Case(nodes=(NodeCase(name="", facts=Facts(node=made.node)),)), made.probe
    yield make_served_case(3), Probe(protocols.TCP, POD, NEIGHBOR, 40000, 80, "pod")
    yield given_case(), Probe.parse("tcp 10.1.0.2 > 10.2.0.2:80")._replace(netns="a")
    yield given_case(), Probe.parse("tcp 198.51.100.9 > 10.2.0.2:80 in eth0")


def test_what_is_judged_of_a_class_is_judged_of_each_of_its_flows() -> None:
    """Headers of each class, drawn and walked by `check` itself: state, deciders, and the line."""
    chance, drawn = Random("judged"), 0
    for case, probe in _list_cases():
        engine = Engine(case.node, any_port=True)
        found = enumerate_space(ReachWalker(case, judge=judge_flow), space_around(probe), 20)
        for one in found.classes:
            judged = one.answer.judged
            if judged is None:
                continue
            for _ in range(2):
                asked = draw_probe(one.space, chance.choice(one.regions), chance)
                walk = walk_flow(case.facts, engine, asked)
                said = (walk.state, tuple(name_deciders(walk)))
                line = walk.spans[0].line if walk.spans else None
                drawn += 1
                assert (said, line) == ((judged.state, judged.names), judged.line), asked

    assert drawn > 150


def test_check_walks_one_flow_for_each_answer_of_a_set() -> None:
    """Pods reach the port that somebody listens at, and no other one; each result says for which
    destinations and ports it stands, and no result is missing.
    """
    answer = check(given_case(), PODS_TO_WEB)
    states = {one.walk.state for one in answer.flows}
    arrived = [one for one in answer.flows if one.walk.state is FlowState.CONNECTS]
    document = json.loads(answer.json())

    assert ("unmet", 1) == (answer.verdict, answer.exit_code)
    assert {FlowState.CONNECTS, FlowState.FAILS} <= states
    assert {80} == {one.probe.dport for one in arrived}
    assert all(one.flow.stands_for for one in answer.flows)
    assert any("10.1.0.2, port 80" in line for one in arrived for line in one.flow.stands_for)
    assert document["flows"][0]["stands_for"]
    assert "stands for tcp 10.2.0.2 from b to" in answer.text()


def test_what_a_pod_sends_to_itself_is_no_answer_for_others() -> None:
    """All pods are alike, and one of them is the destination: the others do not reach it."""
    network = "10.244.250.0/24"
    barred = f"-A FORWARD -s {network} -d {network} -p tcp -j DROP"
    rules = emit_ruleset(generate_services(3, 1))
    rules = rules.replace("-A KUBE-FIREWALL", f"{barred}\n-A KUBE-FIREWALL", 1)
    pods = [Address.parse(f"10.244.250.{number}") for number in (4, 5, 6)]
    case = Case(nodes=(NodeCase(name="", facts=Facts(node=assemble_node(rules, pods))),))
    asked = PODS_TO_WEB.text.replace("10.1.0.0/24", str(pods[0]))
    answer = check(case, Pasted(asked, "sets.toml"))
    failed = {one.probe.src: one for one in answer.flows if one.walk.state is FlowState.FAILS}

    assert answer.verdict == "unmet"
    assert pods[1] in failed
    assert failed[pods[1]].walk.spans[0].text == barred
    assert pods[0] not in failed


def test_many_clients_are_one_set() -> None:
    """Whoever comes from outside connects, or not, alike; a change that drops some is named."""
    before = check(given_case(), OUTSIDE)
    after = check(given_case(), OUTSIDE, [ChangeFile(path=DROP)])
    changed = [one for one in after.flows if one.is_changed]

    assert [FlowState.CONNECTS] == [one.walk.state for one in before.flows]
    assert ("met", "unmet") == (before.verdict, after.verdict)
    assert ["-A FORWARD -s 10.1.0.0/24 -j DROP"] == [
        line.text for one in changed for line in one.changing
    ]


def test_what_was_not_walked_is_undecided() -> None:
    """A bound on walks leaves flows of which nobody can tell: no pass, in check and in diff."""
    found = list_judged([given_case()], FlowSet((), ("10.0.0.0/8",), ("tcp",)), 2, silent)
    left = [one for one in found if not one.walked]

    assert left
    assert all("port" in line for one in left for line in one.stands_for)


def test_pods_whose_addresses_nobody_shows_are_undecided() -> None:
    """All pods connect, as long as the evidence shows from which addresses; what one sends that
    has none there was not walked, whatever becomes of the others.
    """
    flows = Pasted(
        '[[flow]]\nfrom = "pods"\nto = "192.0.2.2/32"\nport = 80\nexpect = "connects"\n', "s.toml"
    )
    node = given_sound_node()
    pod = node.namespaces["b"]
    hidden = replace(pod, addresses=Listing((), False, "ip addr"))
    case = given_case(replace(node, namespaces={**node.namespaces, "b": hidden}))
    before, after = check(given_case(), flows), check(case, flows)
    (left,) = (one for one in after.flows if one.walk.state is FlowState.UNDECIDED)

    assert [("met", 0), ("undecided", 3)] == [
        (one.verdict, one.exit_code) for one in (before, after)
    ]
    assert ("all from b, no address of which is shown",) == left.flow.stands_for
    assert "all from b" in after.text()
    named = FlowSet(("pod/shop/web",), ("192.0.2.2",), ("tcp",))
    assert all(one.walked for one in list_judged([case], named, 0, silent))


def test_a_wrong_device_is_a_usage_error() -> None:
    """No header of the set is a connection of the node."""
    wrong = Pasted(OUTSIDE.text.replace('"eth0"', '"eth7"'), "sets.toml")

    with pytest.raises(UsageError, match="expected a device of the host"):
        check(given_case(), wrong)


def test_changes_that_are_not_the_nodes_are_refused() -> None:
    """A policy is asked about by flows named one by one."""
    policy = Pasted(
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: x, namespace: y}\n"
        "spec: {podSelector: {}}\n",
        "policy.yaml",
    )

    with pytest.raises(UsageError, match="flows named one by one"):
        check(given_case(), PODS_TO_WEB, [ChangeFile(path=policy)])


def test_diff_finds_what_fails_by_itself() -> None:
    """No connection is named; one of those that fail on one node alone is, and what explains it."""
    good = Pasted(NO_FORWARDING.text.replace("ip_forward = 0", "ip_forward = 1"), "good.txt")
    asked = FlowSet(("10.244.1.0/24 in cni0",), ("198.51.100.0/24",), ("tcp",), "443")
    result = diff(NO_FORWARDING, good, flows=asked)

    assert ("explained", 1) == (result.verdict, result.exit_code)
    assert ["net.ipv4.ip_forward = 0"] == [
        span.text for one in result.explanations[0].differences for span in one.here
    ]


def test_diff_of_equal_nodes_asks_about_every_answer() -> None:
    """The same node twice: a flow for each answer, and nothing explains what fails on both."""
    case = read(NO_FORWARDING)
    asked = FlowSet(("10.244.1.5 in cni0",), ("198.51.100.0/24", "192.0.2.2"), ("tcp",), "22,443")
    found = list_answered([case, case], asked, 0, silent)
    result = diff(case, case, flows=asked)

    assert len({one.stands_for for one in found}) == len(found) > 1
    assert ("unexplained", 3) == (result.verdict, result.exit_code)
