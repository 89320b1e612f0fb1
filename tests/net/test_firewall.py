"""Statements about firewalls."""

from __future__ import annotations

from podpath.net.firewall import CloudRule, RuleEdit, TypedRule


def test_what_is_not_said_is_empty() -> None:
    """A flush names no chain; a list may not say its direction."""
    assert TypedRule(RuleEdit.FLUSH, "nat").chain == ""
    assert CloudRule(allowed=False, priority=1).inbound is None
