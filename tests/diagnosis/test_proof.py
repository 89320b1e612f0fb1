"""How a connection is described, and which repairs of a cause are proven on the walk."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.finding import Finding
from podpath.datapath.tracing.trace import Assumption, Branch, Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.causes import find_cause
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.proof import Prover, describe
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import World, judge
from podpath.net.probe import Probe
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node, listening, probe
from tests.datapath.given import given_rules, given_tables
from tests.diagnosis.scenes import attempt, case

ASKED = probe("tcp 10.1.0.2 > 10.2.0.2:80 from pod")
WEB, ADMIN = "tcp 10.1.0.2:4000 > 10.2.0.2:80 from pod", "tcp 10.1.0.2:4001 > 10.2.0.2:443 from pod"


def branch(works: bool | None, *ranks: int, random: bool = False) -> Branch:  # noqa: FBT001  # a column
    """Make a branch that took options of these ranks."""
    made = tuple(Assumption("fact", 1, "meaning", "ask", rank, random) for rank in ranks)
    return Branch(assumptions=made, traces=(), works=works)


@pytest.mark.parametrize(
    ("branches", "said"),
    [
        ([branch(True)], "works"),
        ([branch(False)], "fails"),
        ([branch(True), branch(False)], "works now and then"),
        ([branch(True), branch(None)], "is undecided"),
        ([branch(None)], "is undecided"),
        ([], "is undecided"),
        ([branch(True, 0), branch(False, 1)], "works"),
        ([branch(False, 0), branch(True, 0, 2)], "fails"),
        ([branch(True), branch(False, 1, random=True)], "works now and then"),
        ([branch(True, 1)], "is undecided"),
    ],
)
def test_a_connection_is_described_by_what_is_likely(branches: list[Branch], said: str) -> None:
    """Branches that suppose something unlikely do not count; what the kernel draws does."""
    conversation = Conversation(
        probe=ASKED, branches=tuple(branches), verdict=Reachability.UNDECIDED, truncated=False
    )

    assert said == describe(conversation)


def network(*rules: str, policy: str = "ACCEPT") -> Node:
    """Return two pods with a host between them that has rules."""
    tables = given_tables(given_rules(*rules, policy=policy))
    host = given_netns(
        "host", "lxc1 10.1.0.1/24 peer pod:eth0", "lxc2 10.2.0.1/24 peer pod2:eth0",
        sysctls=forwarding(rp_filter="0"),
        netns={"netfilter": {4: Netfilter(tables=tables, complete=True, sets_complete=True)}},
    )  # fmt: skip
    pods = [
        given_netns(
            name, f"eth0 10.{number}.0.2/24 peer host:lxc{number}",
            routes=[f"default via 10.{number}.0.1 dev eth0"], netns={"sockets": listening(80, 443)},
        )
        for number, name in ((1, "pod"), (2, "pod2"))
    ]  # fmt: skip
    return given_node(host, *pods)


def cause(made: Node, *failing: str) -> Finding:
    """Return the likeliest cause of these connections' failures."""
    return diagnose(case(made, *map(attempt, failing)), ()).findings[0]


def test_the_first_cure_that_changes_nothing_else_is_given() -> None:
    """To accept this connection cures where the rule drops one direction alone; else the rule has
    to go, since its answers would be dropped still.
    """
    (one_way,) = cause(network("FORWARD -i lxc1 -p tcp -j DROP"), WEB).repairs
    (both_ways,) = cause(network("FORWARD -p tcp -j DROP"), WEB).repairs

    assert ("simulated", ()) == (one_way.proven, one_way.side_effects)
    assert one_way.commands[0].startswith("iptables -t filter -I FORWARD 1 -s 10.1.0.2/32")
    assert ("iptables -t filter -D FORWARD -p tcp -j DROP",) == both_ways.commands


def test_what_fails_for_the_same_reason_is_part_of_the_cure() -> None:
    """A second connection that the evidence shows to fail is no side effect."""
    found = cause(network("FORWARD -p tcp -j DROP"), WEB, ADMIN)

    assert all(repair.proven == "simulated" for repair in found.repairs)
    assert 2 == len(found.breaks)
    assert all(() == repair.side_effects for repair in found.repairs)


def test_a_policy_is_lifted_where_it_drops() -> None:
    """And proven by the walk."""
    found = cause(network("FORWARD -p udp -j ACCEPT", policy="DROP"), WEB)

    assert "forward-policy" == found.check
    assert [("simulated", ("iptables -t filter -P FORWARD ACCEPT",))] == [
        (repair.proven, repair.commands) for repair in found.repairs
    ]


HALF = "FORWARD -p tcp --dport 443 -m statistic --mode random --probability 0.5 -j DROP"


def effects(cured: Node, *more: Symptom, flows: tuple[Probe, ...] = ()) -> tuple[str, ...]:
    """Return what a repair changes besides curing WEB, which fails for another reason than all
    else.
    """
    world = World(network("FORWARD -i lxc1 -p tcp -j DROP"))
    judgement = judge(world, Symptom(probe=probe(WEB), fails=True))
    assert judgement.branch is not None
    found = find_cause(world.node, judgement.branch)
    assert found is not None
    proof = Prover(
        world, judgement, replace(found, check="another"), (judgement.symptom, *more), flows
    )
    return proof._effects(cured)


def test_what_works_after_a_repair_is_an_effect_unless_it_was_seen_to_fail() -> None:
    """A connection that somebody may have closed on purpose is opened; one of the evidence that
    fails is cured.
    """
    opened = network()
    told = (f"{ADMIN}: fails before, works after",)
    asked = probe(ADMIN)

    assert told == effects(opened, flows=(asked,))
    assert told == effects(opened, Symptom(probe=asked, fails=False))
    assert () == effects(opened, Symptom(probe=asked, fails=True))


def test_what_works_now_and_then_after_a_repair_is_an_effect() -> None:
    """It is not cured, whatever is said of it; what the kernel draws is walked each way."""
    told = (f"{ADMIN}: fails before, works now and then after",)

    assert told == effects(network(HALF), Symptom(probe=probe(ADMIN), fails=True))
