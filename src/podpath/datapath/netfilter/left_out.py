"""Rules that the evidence leaves out: what a listing that is cut, filtered or elided does not show
of a chain.

A walk goes on as if none of them matched, since most rules match few packets. Whatever the table
decides behind such a place rests on that: one of the rules may have let the packet pass.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.netfilter.state import HookState
from podpath.node.netfilter import Chain
from podpath.node.nftables import NftChain


class LeftOut(NamedTuple):
    """The chain, as its table calls it, of which the evidence leaves rules out."""

    netns: str
    table: str
    chain: str


def pass_left_out(state: HookState, chain: Chain | NftChain, label: str, ask: str) -> None:
    """Come past a place where the evidence may leave out rules of a chain."""
    made = state.walk.choices.suppose(
        f"rules of chain {chain.name} of {label} that the evidence leaves out",
        LeftOut(state.skb.netns.name, state.table, chain.name),
        "none of them matches",
        ask=ask,
    )
    if made not in state.assumed:
        state.assumed = (*state.assumed, made)
