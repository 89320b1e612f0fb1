"""Flows before and after a change: what changed, by which line, and what nobody can tell."""

from __future__ import annotations

import pytest

from podpath.flows.compared import FlowResult, compare_flows, name_deciders, place_flows
from podpath.flows.flow import Expectation, Flow
from podpath.flows.judged import FlowState
from podpath.library.flows import ChangeFile, plan_changes
from podpath.library.given import Pasted
from podpath.net.errors import UsageError
from podpath.node.case import Case
from tests.flows.samples import DROP, given_sound_node


def flow(expect: Expectation, port: int = 80, by: str = "") -> Flow:
    """Return a flow from one pod to the other."""
    return Flow(
        name="n", source="pod/shop/web", target=f"pod/shop/api:{port}", expect=expect, by=by
    )


def compare(stated: Flow, *changes: Pasted) -> FlowResult:
    """Walk a flow before and after changes."""
    node = given_sound_node()
    case = Case(node=node)
    planned = plan_changes([ChangeFile(path=one) for one in changes], case)
    return compare_flows(case, place_flows([stated], node), planned).results[0]


def test_a_rule_that_is_planned_ends_a_flow() -> None:
    """The flow connects before and fails after, by the line of the file."""
    found = compare(flow(Expectation.CONNECTS), DROP)

    assert found.before is not None
    assert (FlowState.CONNECTS, FlowState.FAILS) == (found.before.state, found.walk.state)
    assert (False, True) == (found.is_met, found.is_changed)
    assert [5] == [span.line for span in found.changing]


@pytest.mark.parametrize(
    ("by", "met"), [("FORWARD", True), ("forw*", True), ("KUBE-FIREWALL", False)]
)
def test_who_ends_a_flow_counts_where_the_file_says_so(by: str, met: bool) -> None:  # noqa: FBT001
    """A flow that fails by something else than it has to is not as expected."""
    found = compare(flow(Expectation.FAILS, by=by), DROP)

    assert met is found.is_met
    assert "filter" in set(name_deciders(found.walk))


def test_a_switch_is_found_by_leaving_it_out() -> None:
    """A walk past a switch that is off meets no line of the change: without the line it
    connects.
    """
    text = "net.ipv4.conf.all.rp_filter = 0\nnet.ipv4.ip_forward = 0\n"
    found = compare(flow(Expectation.CONNECTS), Pasted(text, "99.conf"))

    assert FlowState.FAILS is found.walk.state
    assert [2] == [span.line for span in found.changing]


def test_what_is_not_taken_over_leaves_every_flow_open() -> None:
    """A line that is not modeled might change any of them."""
    found = compare(
        flow(Expectation.CONNECTS),
        Pasted("ip route add 10.9.0.0/16 via 192.0.2.7\nip link set eth0 down\n", "r"),
    )

    assert found.is_met is None
    assert found.walk.forbids


def test_a_flow_whose_end_nobody_shows_is_refused() -> None:
    """Every such flow is named at once."""
    strange = Flow(name="n", source="pod/shop/none", target="10.0.0.1:80", expect=Expectation.FAILS)

    with pytest.raises(UsageError, match="pod/shop/none"):
        place_flows([strange], given_sound_node())
