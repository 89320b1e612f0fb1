"""What almost saved a packet that a table ended: rules that missed by one condition, and rules that
stand too late.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.datapath.netfilter import snapshot
from podpath.datapath.netfilter.chains import Traversal, place_of
from podpath.datapath.netfilter.compiled import CompiledRule
from podpath.datapath.netfilter.rules import describe_conditions
from podpath.datapath.reasons.near import AcceptsTooLate, LeadsTooLate, MissedByOne
from podpath.datapath.tracing.trace import NearMiss
from podpath.node.netfilter import Rule

MOST_RULES = 400
"""As many rules are looked at; what stands further back is not near."""
MOST_MISSES = 8
SAVING = frozenset({"ACCEPT", "RETURN"})
"""Targets that keep a packet from the rules behind them."""


def find_misses(traversal: Traversal) -> tuple[NearMiss, ...]:
    """Find the rule that would have let the packet pass had it come first, and earlier ones that
    missed by one condition.

    The branch's answers are not asked for here: what is unknown stays as the branch has it, or as
    is likeliest.
    """
    state = traversal.state
    walk = state.walk
    choices, before = walk.choices, snapshot.take(state)
    walk.choices = choices.likeliest()
    late = _find_late(traversal)
    snapshot.restore(state, before)
    misses: list[NearMiss] = [] if late is None else [late]
    for rule in _passed_by(traversal):
        miss = _missed_by_one(traversal, rule)
        if miss is not None:
            misses.append(miss)
        if len(misses) == MOST_MISSES:
            break
    walk.choices = choices
    snapshot.restore(state, before)
    return tuple(misses)


def _find_late(traversal: Traversal) -> NearMiss | None:
    """Walk on as if the rule that ended the packet had not been there, to the rule that would have
    let it pass.
    """
    state = traversal.state
    matched = state.walk.trace.matched
    start = len(matched)
    rest = Traversal(state, traversal.table, traversal.base)
    rest.frames = list(traversal.frames)
    rest.left = list(traversal.left)
    if not rest.frames or rest.run() is not None or len(matched) == start:
        return None
    last = matched[-1].rule
    if not isinstance(last, Rule) or last.target is None or last.target.name != "ACCEPT":
        return None
    hits = [hit.rule for hit in matched[start:] if isinstance(hit.rule, Rule)]
    outer = [rule for rule in hits if rule.chain == traversal.base.source.name]
    if not outer or outer[-1] is last:
        return NearMiss(last.span, AcceptsTooLate(last))
    way = outer[-1]
    return NearMiss(way.span, LeadsTooLate(way, last))


def _passed_by(traversal: Traversal) -> Iterator[CompiledRule]:
    """Yield the rules that the packet came by without a match, the last ones first."""
    under_way = map(place_of, reversed(traversal.frames))
    count = 0
    for chain, place in (*under_way, *reversed(traversal.visits)):
        for position in reversed(range(place)):
            count += 1
            if count > MOST_RULES:
                return
            rule = chain.rule(position)
            if rule.rule.target is not None and rule.rule.target.name in SAVING:
                yield rule


def _missed_by_one(traversal: Traversal, compiled: CompiledRule) -> NearMiss | None:
    """Say which condition alone kept a rule from matching; None where none did, or more than
    one.
    """
    state = traversal.state
    missed = [
        text
        for check, text in describe_conditions(traversal.table.context(compiled.rule))
        if check(state) is False
    ]
    if len(missed) != 1:
        return None
    return NearMiss(compiled.rule.span, MissedByOne(compiled.rule, missed[0]))
