"""Tests of `protect.repair.policy`: the defaults can be meant, what cannot be meant is refused with
its line.
"""

from __future__ import annotations

import pytest

from podpath.net.tables import TableError, parse_tables
from podpath_protect.agent.config import AgentConfig
from podpath_protect.repair.policy import OWN_CODES, VALIDATORS, Policy


def test_the_defaults_know_three_validators() -> None:
    """Out of the box the validators of podpath, linkerd (95) and istio (126) are known by name and
    code.
    """
    codes = {validator.container: validator.codes for validator in VALIDATORS}

    assert {"podpath-validate", "linkerd-network-validator", "istio-validation"} == set(codes)
    assert 95 in codes["linkerd-network-validator"]
    assert 126 in codes["istio-validation"]
    assert set(OWN_CODES) < set(codes["podpath-validate"])
    assert not {0, 3, 68, 71} & set(OWN_CODES), "busy, killed and undecided prove nothing"


def test_escalation_goes_from_gentle_to_hard() -> None:
    """However the actions are listed, the gentlest is tried first, and labelling stands beside."""
    assert ("mend", "evict", "delete") == Policy(
        actions=("delete", "evict", "label", "mend")
    ).escalation


def test_a_whole_section_is_read() -> None:
    """Every kind of value is read from TOML: durations, lists, tables in a list."""
    text = """
actions = ["label", "evict"]
label_selector = "linkerd.io/control-plane-ns"
owner_pause = "2m"
scan = "0s"
[[validators]]
container = "istio-validation"
codes = [126]
message = "no redirect"
"""
    policy = parse_tables(text, "repair.toml", Policy)

    assert (("label", "evict"), 120.0, 0.0) == (policy.actions, policy.owner_pause, policy.scan)
    assert ("istio-validation", (126,), "no redirect") == (
        policy.validators[0].container,
        policy.validators[0].codes,
        policy.validators[0].message,
    )


@pytest.mark.parametrize(
    "text",
    [
        'actions = ["evict", "evict"]',
        'actions = ["kill"]',
        "node_per_hour = 0",
        "owner_burst = 0",
        "attempts = 0",
        'label = "broken"',
        'validators = []\nscan = "0s"',
        "actoins = []",
    ],
)
def test_what_cannot_be_meant_is_refused(text: str) -> None:
    """A budget of nothing, an action twice or unknown, a misspelt key: refused with the file's name
    and line.
    """
    with pytest.raises(TableError, match=r"repair\.toml:\d+"):
        parse_tables(text, "repair.toml", Policy)


@pytest.mark.parity("R11")
def test_r11_repair_runs_only_where_it_is_asked_for() -> None:
    """A configuration without the section has no repair; with it, nothing is deleted unless the
    policy says so.
    """
    without = parse_tables("[order]", "agent.toml", AgentConfig)
    with_it = parse_tables("[kubernetes]\n[repair]", "agent.toml", AgentConfig)

    assert "repair" not in without.parts()
    assert with_it.repair == Policy()
    assert "delete" not in Policy().actions
