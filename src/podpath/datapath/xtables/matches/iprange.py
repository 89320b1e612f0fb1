"""`-m iprange`: ranges of addresses (net/netfilter/xt_iprange.c v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import RuleContext, compile_options, single
from podpath.net.addresses import Family
from podpath.node.netfilter import Match, MatchOption
from podpath.xtables.values import parse_address


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(
        match, context, {"src-range": _compile_source, "dst-range": _compile_destination}
    )


def _compile_source(option: MatchOption, context: RuleContext) -> Check:
    low, high = _parse_range(single(option), context.family)
    wanted = not option.negated

    def check_source(state: HookState) -> bool:
        return (low <= state.skb.packet.src.value <= high) is wanted

    return check_source


def _compile_destination(option: MatchOption, context: RuleContext) -> Check:
    low, high = _parse_range(single(option), context.family)
    wanted = not option.negated

    def check_destination(state: HookState) -> bool:
        return (low <= state.skb.packet.dst.value <= high) is wanted

    return check_destination


def _parse_range(text: str, family: Family) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    low = parse_address(first, family).value
    return low, (parse_address(last, family).value if dash else low)
