"""`-m rpfilter`: whether the way back to the source is the way the packet came
(net/ipv4/netfilter/ipt_rpfilter.c v6.12).
"""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.routing import reverse_path
from podpath.datapath.xtables.context import RuleContext, unknown_option
from podpath.node.netfilter import Match

KNOWN = frozenset({"loose", "validmark", "accept-local", "invert"})


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one check: the options together say how the lookup is made."""
    unknown = [option for option in match.options if option.name not in KNOWN]
    if unknown:
        return (unknown_option(match.name, unknown[0], context),)
    names = {option.name for option in match.options}
    wanted = "invert" not in names
    loose, valid_mark, accept_local = (
        "loose" in names,
        "validmark" in names,
        "accept-local" in names,
    )

    def check_rpfilter(state: HookState) -> bool:
        skb = state.skb
        if skb.iif is not None and skb.iif.name == "lo":
            return wanted
        mark = skb.mark if valid_mark else 0
        return (
            reverse_path(state.walk, skb, mark=mark, loose=loose, accept_local=accept_local)
            is wanted
        )

    return (check_rpfilter,)
