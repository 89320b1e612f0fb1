"""`-m ecn`: congestion bits of the IP and TCP headers (net/netfilter/xt_ecn.c v6.12)."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import OptionCompiler, RuleContext, compile_options, single
from podpath.net import protocols
from podpath.node.netfilter import Match, MatchOption
from podpath.xtables.values import parse_integer


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, OPTIONS)


def _flag(bit: int) -> OptionCompiler:
    def compile_flag(option: MatchOption, _: RuleContext) -> Check:
        wanted = not option.negated

        def check_flag(state: HookState) -> bool:
            return (state.skb.packet.flags & bit != 0) is wanted

        return check_flag

    return compile_flag


def _compile_ect(option: MatchOption, _: RuleContext) -> Check:
    bits = parse_integer(single(option), most=3)
    wanted = not option.negated

    def check_ect(state: HookState) -> bool:
        return (state.skb.packet.tos & 3 == bits) is wanted

    return check_ect


OPTIONS: Mapping[str, OptionCompiler] = {
    "ecn-tcp-cwr": _flag(protocols.CWR),
    "ecn-tcp-ece": _flag(protocols.ECE),
    "ecn-ip-ect": _compile_ect,
}
