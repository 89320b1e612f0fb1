"""What the evidence holds whole."""

from __future__ import annotations

from podpath.diagnosis.holdings import AnsweringOutput, list_holdings
from podpath.node.case import Case
from tests.checks.nodes import netns, node


def test_whole_listings_are_held_and_others_are_not() -> None:
    """Routes and rules that are listed whole are; connections that no output lists are not."""
    held = list_holdings(Case(node=node(netns("host"))))

    assert {AnsweringOutput.RULESET, AnsweringOutput.ROUTES} <= held
    assert AnsweringOutput.CONNTRACK not in held
