"""`-m nfacct`: counts and matches, as long as its object has no quota (net/netfilter/xt_nfacct.c
v6.12).
"""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check
from podpath.datapath.xtables.context import RuleContext, always, compile_options
from podpath.node.netfilter import Match, MatchOption


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, {"nfacct-name": _compile_name})


def _compile_name(_: MatchOption, __: RuleContext) -> Check:
    return always(True)
