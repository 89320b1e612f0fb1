"""`-m ttl` and `-m hl`: time to live, hop limit (net/netfilter/xt_hl.c v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import OptionCompiler, RuleContext, compile_options, parse_integer, single
from podpath.node.netfilter import Match, MatchOption


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, OPTIONS)


def _compile_equal(option: MatchOption, _: RuleContext) -> Check:
    number = parse_integer(single(option), most=255)
    wanted = not option.negated

    def check_equal(state: HookState) -> bool:
        return (state.skb.packet.ttl == number) is wanted

    return check_equal


def _compile_less(option: MatchOption, _: RuleContext) -> Check:
    number = parse_integer(single(option), most=255)

    def check_less(state: HookState) -> bool:
        return state.skb.packet.ttl < number

    return check_less


def _compile_greater(option: MatchOption, _: RuleContext) -> Check:
    number = parse_integer(single(option), most=255)

    def check_greater(state: HookState) -> bool:
        return state.skb.packet.ttl > number

    return check_greater


OPTIONS: dict[str, OptionCompiler] = {
    "ttl-eq": _compile_equal, "ttl": _compile_equal, "ttl-lt": _compile_less, "ttl-gt": _compile_greater,
    "hl-eq": _compile_equal, "hl": _compile_equal, "hl-lt": _compile_less, "hl-gt": _compile_greater,
}  # fmt: skip
