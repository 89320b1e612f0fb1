"""Targets that podpath does not know, or cannot follow: the walk forks over what they may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Queued, Verdict
from podpath.datapath.reasons.boundaries import TargetNotFollowed
from podpath.datapath.reasons.rules import TargetStops, TargetTaken
from podpath.datapath.vocabulary import StepDecision
from podpath.net.provenance import Option
from podpath.node.netfilter import Target
from podpath.xtables.context import RuleContext

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule

CONTINUES, ACCEPTS, DROPS = "continues", "accepts", "drops"


def compile_stop(target: Target, context: RuleContext) -> Act:
    """Compile to a stop: what comes after is not modeled."""
    name = target.name

    def stop(state: HookState, compiled: CompiledRule) -> Verdict:
        rule = compiled.rule
        state.decision = Decision(StepDecision.UNDECIDED, TargetStops(rule, name), rule.span)
        return Queued(TargetNotFollowed(name, context.where), context.show)

    return stop


def compile_unknown(target: Target, context: RuleContext, why: str) -> Act:
    """Compile to a fork over going on, accepting and dropping."""
    options = (
        Option(CONTINUES, f"{target.name} changes nothing, and the next rule is tried"),
        Option(ACCEPTS, f"{target.name} accepts the packet"),
        Option(DROPS, f"{target.name} drops the packet"),
    )

    def fork(state: HookState, compiled: CompiledRule) -> Verdict | None:
        effect = state.walk.choices.choose(
            f"target {target.name} ({why}) of {context.where}", options, ask=context.show
        )
        if effect == CONTINUES:
            return None
        rule = compiled.rule
        word = StepDecision.ACCEPT if effect == ACCEPTS else StepDecision.DROP
        state.decision = Decision(word, TargetTaken(rule, word), rule.span)
        return ACCEPT if effect == ACCEPTS else DROP

    return fork
