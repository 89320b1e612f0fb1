"""`-m comment`: always matches (net/netfilter/xt_comment.c v6.12)."""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, make_options
from podpath.xtables.rule import Match
from podpath.xtables.seen import Check


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to nothing that could fail."""
    del match, context
    return ()


MATCH = MatchExtension(name="comment", options=make_options("comment"), compiler=compile_match)
