"""`-m tcpmss`: the maximum segment size in a SYN (net/netfilter/xt_tcpmss.c v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Answer, Check, Doubt, HookState
from podpath.datapath.xtables.context import RuleContext, compile_options, single
from podpath.net import protocols
from podpath.node.netfilter import Match, MatchOption
from podpath.xtables.values import parse_range

USUAL = 1460
"""What a host on Ethernet offers."""


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, {"mss": _compile_mss})


def _compile_mss(option: MatchOption, _: RuleContext) -> Check:
    low, high = parse_range(single(option), most=0xFFFF)
    likely = low <= USUAL <= high
    doubt = Doubt(
        f"the SYN offers an MSS in {single(option)}",
        likely=likely,
        ask="tcpdump -v 'tcp[13] & 2 != 0'",
        negated=option.negated,
    )

    def check_mss(state: HookState) -> Answer:
        # Only a SYN carries the option; without it the kernel answers as the negation says.
        return doubt if state.skb.packet.flags & protocols.SYN else option.negated

    return check_mss
