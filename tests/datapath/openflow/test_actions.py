"""Actions as ovs-ofctl prints them."""

from __future__ import annotations

from podpath.datapath.openflow.actions import parse_actions, parse_arguments


def test_actions_are_cut() -> None:
    """An action has a name and what stands in its parentheses or behind its colon."""
    text = "mod_nw_dst:10.0.0.1,ct(commit,nat(dst=10.0.0.1:80)),resubmit(,5)"
    names = [action.name for action in parse_actions(text)]

    assert ["mod_nw_dst", "ct", "resubmit"] == names
    assert {"commit": "", "nat": "dst=10.0.0.1:80"} == parse_arguments(
        "commit,nat(dst=10.0.0.1:80)"
    )
