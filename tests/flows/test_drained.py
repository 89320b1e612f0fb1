"""Nodes that are drained: which pods leave, and what becomes of flows then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.flows.drained import judge_drained, list_evicted, plan_drain
from podpath.flows.judged import FlowState, FlowWalk
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.node.case import Case
from tests.checks.api import case_with
from tests.flows.samples import given_sound_node

STAYS = """
- kind: Pod
  metadata: {name: api, namespace: shop, ownerReferences: [{kind: DaemonSet, name: api}]}
"""


def given_case(*objects: str) -> Case:
    """Return a case whose two pods run on one node."""
    node = given_sound_node()
    pods = tuple(replace(pod, node="far") for pod in node.pods)
    return case_with(replace(node, pods=pods), *objects)


def test_all_pods_leave() -> None:
    """Those of the node that is drained, none of another."""
    case = given_case()

    assert {pod.name for pod in list_evicted(case, [plan_drain(case, "far")]).values()} == {
        "web",
        "api",
    }
    assert list_evicted(case, []) == {}


def test_pods_of_daemon_sets_stay() -> None:
    """Kubectl drain leaves them."""
    case = given_case(STAYS)

    assert list(list_evicted(case, [plan_drain(case, "far")])) == [Address.parse("10.1.0.2")]


def test_a_node_that_nobody_knows() -> None:
    """It is refused, with those that are known."""
    with pytest.raises(UsageError, match=r"far.*saw 'other'"):
        plan_drain(given_case(), "other")


@pytest.mark.parametrize(
    ("probe", "state", "why"),
    [
        ("tcp 10.1.0.2 > 192.0.2.9:80", FlowState.UNDECIDED, "where it runs next is not known"),
        ("tcp 192.0.2.9 > 10.1.0.2:80", FlowState.FAILS, "and its address with it"),
        ("tcp 192.0.2.9 > 192.0.2.2:80", FlowState.CONNECTS, ""),
    ],
)
def test_flows_from_and_to_evicted_pods(probe: str, state: FlowState, why: str) -> None:
    """A pod that leaves can be asked no longer; what it asks from elsewhere is not known."""
    case = given_case()
    evicted = list_evicted(case, [plan_drain(case, "far")])
    before = FlowWalk(state=FlowState.CONNECTS)

    after = judge_drained(case, Probe.parse(probe), before, evicted)

    assert after.state is state
    assert why in after.because
