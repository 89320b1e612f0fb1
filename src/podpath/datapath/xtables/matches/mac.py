"""`-m mac`: the Ethernet source of a received packet (net/netfilter/xt_mac.c:mac_mt v6.12).

What comes in on a device that is not Ethernet, `lo` or a tunnel of IP in IP, matches neither with
nor without `!`.
"""

from __future__ import annotations

from podpath.datapath.neighbors.neighbour import WITHOUT_ARP
from podpath.datapath.netfilter.state import Answer, Check, Doubt, HookState
from podpath.datapath.xtables.context import RuleContext, compile_options, single
from podpath.node.netfilter import Match, MatchOption


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, {"mac-source": _compile_source})


def _compile_source(option: MatchOption, context: RuleContext) -> Check:
    wanted_mac = single(option).lower()
    wanted = not option.negated
    doubt = Doubt(
        f"the frame's source is {wanted_mac}",
        likely=False,
        ask=context.show,
        negated=option.negated,
    )

    def check_mac(state: HookState) -> Answer:
        link = state.skb.iif
        if link is None or link.name == "lo" or link.kind in WITHOUT_ARP:
            return False
        mac = state.skb.packet.smac
        return doubt if mac is None else (mac == wanted_mac) is wanted

    return check_mac
