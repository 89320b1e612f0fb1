"""Numbers of routing tables."""

from __future__ import annotations

from tests.assembly.evidence_text import (
    Output,
    case_of,
    spell_route,
)


def test_own_table_names_meet() -> None:
    """A rule and a route that spell a table by the node's own name mean the same table."""
    rules = (
        "0:\tfrom all lookup local\n9:\tfrom 10.9.0.0/16 lookup storage\n"
        "32766:\tfrom all lookup main"
    )
    case = case_of(
        Output("ip rule | head -3", rules),
        Output("ip route show table storage", "default via 10.1.0.2 dev eth1"),
    )
    rule = next(rule for rule in case.node.host.rules.items if rule.priority == 9)
    assert [
        spell_route(route) for route in case.node.host.routes.items if route.table == rule.table
    ] == ["default via 10.1.0.2 dev eth1"]
