"""`-m tcpmss`: the maximum segment size in a SYN (net/netfilter/xt_tcpmss.c v6.12)."""

from __future__ import annotations

from podpath.net import protocols
from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning, draw
from podpath.xtables.rule import MatchOption, single
from podpath.xtables.seen import Answer, Check, Doubt, Surroundings
from podpath.xtables.values import parse_range
from podpath.xtables.wording import make_form

USUAL = 1460
"""What a host on Ethernet offers."""


def _compile_mss(option: MatchOption, _: RuleContext) -> Check:
    low, high = parse_range(single(option), most=0xFFFF)
    likely = low <= USUAL <= high
    doubt = Doubt(
        f"the SYN offers an MSS in {single(option)}",
        likely=likely,
        ask="tcpdump -v 'tcp[13] & 2 != 0'",
        negated=option.negated,
    )

    def check_mss(state: Surroundings) -> Answer:
        packet = state.skb.packet
        # Only a SYN carries the option; without it the kernel answers as the negation says.
        if not packet.may_offer_mss:
            return option.negated
        if packet.mss:
            return (low <= packet.mss <= high) is not option.negated
        return doubt

    return check_mss


MATCH = MatchExtension(
    name="tcpmss",
    options={"mss": OptionMeaning(check=_compile_mss)},
    forms=(make_form("tcpmss", r"tcpmss match (?P<no_mss>!)?(?P<mss>\S+)"),),
    draws=(
        draw("mss 1:3000", protocol=protocols.TCP),
        draw("mss 1:100", protocol=protocols.TCP),
    ),
)
