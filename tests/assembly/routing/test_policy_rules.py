"""Policy rules."""

from __future__ import annotations

from podpath.node.case import Case
from tests.assembly.evidence_text import (
    Output,
    case_of,
)


def test_policy_rules(recorded: Case) -> None:
    """Rules stand by priority, with their mark and table."""
    rules = [rule for rule in recorded.node.host.rules.items if rule.family == 4]
    assert [(rule.priority, rule.table, str(rule.mark or "")) for rule in rules] == [
        (0, 255, ""), (10, 100, "0x200/0xf00"), (32766, 254, ""), (32767, 253, ""),
    ]  # fmt: skip


def test_fragment_of_rules_adds_to_the_default_ones() -> None:
    """A grep of `ip rule` does not take the three rules away that every namespace starts with."""
    case = case_of(Output("ip rule | grep fwmark", "9:\tfrom all fwmark 0x1 lookup 77"))
    assert [rule.priority for rule in case.node.host.rules.items if rule.family == 4] == [
        0,
        9,
        32766,
        32767,
    ]
    assert not case.node.host.rules.complete
