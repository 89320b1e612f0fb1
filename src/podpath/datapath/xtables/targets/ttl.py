"""`-j TTL` and `-j HL`: time to live, hop limit (net/netfilter/xt_HL.c v6.12). Evaluation goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.reasons.rules import TtlSet
from podpath.datapath.vocabulary import StepDecision
from podpath.datapath.xtables.context import RuleContext, single
from podpath.node.netfilter import Target
from podpath.xtables.values import parse_integer

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule


def compile_target(target: Target, _: RuleContext) -> Act:
    """Compile the one option; a packet whose TTL falls to zero goes on to where that is looked at."""
    if len(target.options) != 1:
        raise ValueError(f"expected one option of {target.name}")
    option = target.options[0]
    action = option.name.rpartition("-")[2]
    if action not in {"set", "inc", "dec"}:
        raise ValueError(f"expected an option of {target.name}, saw --{option.name}")
    number = parse_integer(single(option), most=255)

    def set_ttl(state: HookState, compiled: CompiledRule) -> None:
        skb = state.skb
        before = skb.packet.ttl
        ttl = (
            number
            if action == "set"
            else min(255, before + number)
            if action == "inc"
            else max(0, before - number)
        )
        skb.packet = skb.packet._replace(ttl=ttl)
        rule = compiled.rule
        state.decision = Decision(StepDecision.TTL, TtlSet(rule, ttl), rule.span)

    return set_ttl
