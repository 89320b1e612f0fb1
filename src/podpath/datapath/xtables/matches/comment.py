"""`-m comment`: always matches (net/netfilter/xt_comment.c v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check
from podpath.datapath.xtables.context import RuleContext
from podpath.node.netfilter import Match


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to nothing that could fail."""
    del match, context
    return ()
