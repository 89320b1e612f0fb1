"""One netfilter hook: every base chain, conntrack and NAT function that is registered there, in the
kernel's order.
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.datapath.netfilter.order import DEFRAGMENTATION
from podpath.datapath.netfilter.ruleset import ruleset
from podpath.datapath.netfilter.stages import Stage
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, Accept, Queued, Verdict
from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.routing import reroute
from podpath.datapath.vocabulary import BoundaryName, Hook
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.pieces import fragments, put_together
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk


def traverse(walk: Walk, skb: Skb, hook: Hook) -> Verdict:
    """Send a packet through one hook and give the final verdict.

    Reads `skb.iif` (None in OUTPUT), `skb.oif` (None in PREROUTING and INPUT), `skb.netns`,
    `skb.mark`, `skb.physin` and `skb.physout`, and `skb.destination` in POSTROUTING (MASQUERADE
    needs the next hop). Changes `skb.packet` (NAT, TTL, TOS), `skb.mark`, `skb.connection`,
    `skb.ctinfo` and `skb.reply`; records Steps, and every rule that matched in
    `walk.trace.matched`. The caller makes the last Step of a packet that is dropped here no more:
    the deciding Step is recorded already. A caller that moves the packet to another namespace
    clears `connection`, `ctinfo` and `template` (`skb_scrub_packet`), one that loops it back over
    `lo` keeps them.
    """
    rules = ruleset(walk, skb.netns, skb.packet.dst.family)
    if skb.pieces and rules.defragments and hook is Hook.PREROUTING:
        if any(entry.priority < DEFRAGMENTATION for entry in rules.native.at(hook)):
            return _unfollowed(walk, skb, hook)
        put_together(skb)
    stages = rules.stages[hook]
    if not stages:
        return ACCEPT
    if skb.pieces:
        return _pass_pieces(walk, skb, hook, stages)
    return _pass(walk, skb, hook, stages)


def _pass_pieces(walk: Walk, skb: Skb, hook: Hook, stages: Sequence[Stage]) -> Verdict:
    """Send each fragment through: all have to pass, and rules that change one are not followed."""
    whole = skb.packet
    for packet in fragments(skb):
        skb.packet, mark = packet, skb.mark
        verdict = _pass(walk, skb, hook, stages)
        if verdict is not ACCEPT:
            return verdict
        if skb.packet != packet or skb.mark != mark:
            return _unfollowed(walk, skb, hook)
    skb.packet = whole
    return ACCEPT


def _unfollowed(walk: Walk, skb: Skb, hook: Hook) -> Queued:
    ended = boundary(walk, skb, BoundaryName.FRAGMENTS, hook)
    return Queued(BoundaryMet(BoundaryName.FRAGMENTS, (hook,)), ended.ask)


def _pass(walk: Walk, skb: Skb, hook: Hook, stages: Sequence[Stage]) -> Verdict:
    state = HookState(walk, skb, hook)
    for stage in stages:
        before, asked = skb.packet.dst, state.reroute
        verdict = stage(state)
        if verdict is not None:
            return verdict
        if (
            state.reroute
            and (not asked or skb.packet.dst != before)
            and reroute(walk, skb).destination is None
        ):
            # A hook that changes the way looks for the new one itself: what runs after it sees no
            # packet without a route.
            break
    return Accept(state.reroute) if state.reroute else ACCEPT
