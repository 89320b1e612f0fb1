"""Extensions of `xtables.registry` as a walk runs them; what is not known, or not understood,
answers with a doubt and never with yes.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.compiled import CompiledRule
from podpath.datapath.netfilter.state import Act, Check, Decision, HookState
from podpath.datapath.netfilter.verdicts import Drop, Verdict
from podpath.datapath.reasons.rules import RuleDecided
from podpath.datapath.vocabulary import StepDecision
from podpath.datapath.xtables import unknown
from podpath.datapath.xtables.actions import Actions
from podpath.node.netfilter import Match, Target
from podpath.xtables import registry as xtables
from podpath.xtables.context import MatchCompiler, RuleContext, doubtful
from podpath.xtables.extension import TargetExtension
from podpath.xtables.registry import VERDICTS
from podpath.xtables.rule import spell_match
from podpath.xtables.seen import TargetAct

MATCHES: Mapping[str, MatchCompiler] = {
    name: match.compile for name, match in xtables.MATCHES.items()
}
"""By the name behind `-m`."""


def is_target(name: str) -> bool:
    """Tell whether a name behind `-j` is a verdict's or an extension's, and so no chain's."""
    return name in VERDICTS or name in xtables.TARGETS


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile one match; one that is not known, or not understood, answers with a doubt and never
    with yes.
    """
    compiler = MATCHES.get(match.name)
    if compiler is None:
        return (
            doubtful(
                f"{spell_match(match)} (an unknown match) at {context.where} matches",
                context,
                likely=False,
            ),
        )
    try:
        return compiler(match, context)
    except ValueError as error:
        return (
            doubtful(
                f"{spell_match(match)} at {context.where} matches ({error})", context, likely=False
            ),
        )


def compile_target(target: Target, context: RuleContext) -> Act | None:
    """Compile one target; None for one that changes nothing. An unknown one forks the walk."""
    known = xtables.TARGETS.get(target.name)
    if known is None:
        return unknown.compile_unknown(target, context, "an unknown target")
    if known.stops:
        return unknown.compile_stop(target, context)
    if known.compiler is not None:
        try:
            return perform(known.compiler(target, context))
        except ValueError as error:
            return unknown.compile_unknown(target, context, str(error))
    if is_silent(known, target):
        return None
    return unknown.compile_unknown(target, context, "an unknown target")


def is_silent(known: TargetExtension, target: Target) -> bool:
    """Tell whether a target changes nothing that a walk looks at."""
    return known.audible.isdisjoint(option.name for option in target.options)


def perform(act: TargetAct) -> Act:
    """Let a target act on a walk's packet, in the name of the rule that is met. A drop that the
    target gives no reason for is the rule's.
    """

    def act_on_walk(state: HookState, compiled: CompiledRule) -> Verdict | None:
        rule, before = compiled.rule, state.decision
        verdict = act(Actions(state, rule))
        if isinstance(verdict, Drop) and state.decision is before:
            reason = RuleDecided(rule, StepDecision.DROP)
            state.decision = Decision(StepDecision.DROP, reason, rule.span)
        return verdict

    return act_on_walk
