"""`-m pkttype`: what the link layer addressed the frame to (net/netfilter/xt_pkttype.c v6.12)."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import RuleContext, compile_options, single
from podpath.node.netfilter import Match, MatchOption

TYPES: Mapping[str, str] = {
    "unicast": "host", "host": "host", "broadcast": "broadcast", "bcast": "broadcast", "multicast": "multicast",
    "mcast": "multicast", "otherhost": "otherhost", "outgoing": "outgoing", "loopback": "loopback",
}  # fmt: skip
"""What iptables accepts, and the packet type that it stands for."""


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, {"pkt-type": _compile_type})


def _compile_type(option: MatchOption, _: RuleContext) -> Check:
    name = single(option)
    if name not in TYPES:
        raise ValueError(f"expected a packet type, saw {name!r}")
    pkt_type = TYPES[name]
    wanted = not option.negated

    def check_type(state: HookState) -> bool:
        return (state.skb.pkt_type == pkt_type) is wanted

    return check_type
