"""`-m length`: bytes of the IP packet, or of an IPv6 packet behind its header (net/netfilter/xt_length.c v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import RuleContext, compile_options, parse_range, single
from podpath.node.netfilter import Match, MatchOption


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, {"length": _compile_length})


def _compile_length(option: MatchOption, _: RuleContext) -> Check:
    low, high = parse_range(single(option), most=0xFFFF)
    wanted = not option.negated

    def check_length(state: HookState) -> bool:
        return (low <= state.skb.packet.length <= high) is wanted

    return check_length
