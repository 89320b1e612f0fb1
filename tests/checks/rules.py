"""Rules of iptables as one pastes them."""

from __future__ import annotations

from podpath.checks.firewall import chains_named
from podpath.node.netfilter import Rule
from tests.checks.pasted import case_of


def rule(text: str) -> Rule:
    """Make the rule of a line."""
    ((_, chain),) = chains_named(case_of(text).node.host, "filter", text.split()[1])
    return chain.rules[0]
