"""`-m helper`: connections that a helper expected (net/netfilter/xt_helper.c v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Answer, Check, Doubt, HookState
from podpath.datapath.xtables.context import RuleContext, compile_options, single
from podpath.node.netfilter import Match, MatchOption


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, {"helper": _compile_helper})


def _compile_helper(option: MatchOption, _: RuleContext) -> Check:
    doubt = Doubt(
        f"helper {single(option)} expected the connection",
        likely=True,
        ask="conntrack -L expect",
        negated=option.negated,
    )

    def check_helper(state: HookState) -> Answer:
        connection = state.skb.connection
        # Without a master connection no helper is asked.
        return doubt if connection is not None and connection.expected else option.negated

    return check_helper
