"""`-m connmark`: the connection's mark (net/netfilter/xt_connmark.c:connmark_mt v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.walk.skb import attached
from podpath.datapath.xtables.context import RuleContext, compile_options, single
from podpath.node.netfilter import Match, MatchOption
from podpath.xtables.values import parse_mark


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, {"mark": _compile_mark})


def _compile_mark(option: MatchOption, _: RuleContext) -> Check:
    value, mask = parse_mark(single(option))
    wanted = not option.negated

    def check_connmark(state: HookState) -> bool:
        connection = attached(state.skb)
        # A packet without a connection does not match, negated or not.
        return connection is not None and (connection.mark & mask == value) is wanted

    return check_connmark
