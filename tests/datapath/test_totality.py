"""What holds of every walk, on any node: it ends, it never raises, it says why."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Dropped, Rejected, Undecided
from podpath.datapath.walk.compiled import Engine
from podpath.net.probe import Probe
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node
from tests.strategies import nodes, probes

LIMIT = 4
drawn = settings(
    max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@drawn
@example(given_node(given_netns("host")), Probe.parse("tcp 0.0.0.0 > 255.255.255.255:80"))
@given(nodes(), probes)
def test_a_walk_always_ends_and_never_raises(node: Node, probe: Probe) -> None:
    """Whatever the node is like a conversation has branches, each with an end that its last step
    explains.
    """
    found = converse(node, probe, limit=LIMIT)

    assert 1 <= len(found.branches) <= LIMIT
    for branch in found.branches:
        assert (branch.works is True) == (not branch.kind) == (branch.failure is None)
        assert bool(branch.kind) is (branch.works is not True)
        ended = isinstance(branch.last.outcome, Dropped | Rejected | Undecided)
        assert not ended or branch.last.deciding.reason


@drawn
@given(nodes(), probes)
def test_the_same_question_has_the_same_answer(node: Node, probe: Probe) -> None:
    """A walk depends on the node and the probe alone, not on what was walked before."""
    engine = Engine(node)
    first, second = converse(engine, probe, limit=LIMIT), converse(engine, probe, limit=LIMIT)

    assert (first, converse(node, probe, limit=LIMIT)) == (second, first)


@drawn
@given(nodes(), probes)
def test_a_branch_is_what_its_assumptions_make_it(node: Node, probe: Probe) -> None:
    """Settling what a branch assumed gives that branch again, without a fork."""
    branch = converse(node, probe, limit=LIMIT).branches[-1]
    again = converse(
        node, probe, settled={made.fact: made.value for made in branch.assumptions}, limit=1
    )

    assert (branch.works, branch.traces) == (again.branches[0].works, again.branches[0].traces)
