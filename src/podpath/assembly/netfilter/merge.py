"""Several outputs that show one chain: what they agree on, what one adds to the other, and where
they differ.

A ticket shows a chain on the bad host and on a good one, before and after, whole and through a
grep. Outputs of one state are put together; states that differ become the options of an unknown
chain, the likeliest first, and each says where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from podpath.assembly.scenes.labels import StateLikelihood, judge_source
from podpath.net.provenance import Fact, Known, Option, Span, Unknown
from podpath.node.case import Contradiction
from podpath.node.netfilter import Chain, Rule


class ChainOutput(NamedTuple):
    """One output of a chain."""

    chain: Chain
    span: Span
    """Where it stands: the chain's heading, else its first rule."""
    because: str = ""

    @property
    def standing(self) -> StateLikelihood:
        """How likely the output shows the state in which things failed."""
        return judge_source(self.span.source)


class MergedChain(NamedTuple):
    """What all outputs of a chain say together."""

    fact: Fact[Chain]
    contradictions: tuple[Contradiction, ...] = ()


class _ChainState(NamedTuple):
    """One state of the chain, and the output that speaks for it."""

    chain: Chain
    showing: ChainOutput


def merge_chains(showings: Iterable[ChainOutput], *, fact: str, ask: str) -> MergedChain:
    """Make one fact of all outputs of a chain (at least one)."""
    states: list[_ChainState] = []
    contradictions: list[Contradiction] = []
    for showing in sorted(showings, key=lambda each: each.standing):
        contradiction = _absorb(states, showing, fact)
        contradictions += [] if contradiction is None else [contradiction]
    if len(states) == 1 and states[0].showing.standing is not StateLikelihood.ELSEWHERE:
        only = states[0]
        return MergedChain(
            Known(only.chain, only.showing.span, only.showing.because), tuple(contradictions)
        )
    options = tuple(
        Option(state.chain, spell_showing(state.showing.span), state.showing.span)
        for state in states
    )
    why = "two outputs disagree" if len(states) > 1 else "only another host's output shows it"
    return MergedChain(Unknown(fact, ask, options, why), tuple(contradictions))


def spell_showing(span: Span) -> str:
    """Say which output shows a state: its place, the words above it, and its command."""
    source = span.source
    words = [f"as at {span}"]
    if source.label:
        words.append(f"({source.label.strip()})")
    if source.command:
        words.append(f"from `{source.command.strip()}`")
    return " ".join(words)


def _absorb(states: list[_ChainState], showing: ChainOutput, fact: str) -> Contradiction | None:
    """Put an output to a state that it agrees with, or start another one."""
    for place, state in enumerate(states):
        joined = _join(state.chain, showing.chain)
        if (
            joined is None
            and state.showing.standing is showing.standing
            and not (state.chain.complete and showing.chain.complete)
        ):
            if not (state.chain.complete or showing.chain.complete):
                joined = _interleave(state.chain, showing.chain)
            else:
                whole = showing if showing.chain.complete else state.showing
                states[place] = _ChainState(whole.chain, whole) if whole is showing else state
                return _contradict(state.showing, showing, fact)
        if joined is not None:
            if showing.chain.complete and not state.chain.complete:
                leading = showing
            else:
                leading = state.showing
            states[place] = _ChainState(joined, leading)
            return None
    states.append(_ChainState(showing.chain, showing))
    return None


def _is_in(rule: Rule, chain: Chain) -> bool:
    return any(_agree(rule, other) for other in chain.rules)


def _contradict(first: ChainOutput, second: ChainOutput, fact: str) -> Contradiction:
    """Say that a filtered output has a rule that the whole one lacks."""
    whole, part = (first, second) if first.chain.complete else (second, first)
    missing = next((rule for rule in part.chain.rules if not _is_in(rule, whole.chain)), None)
    spans = (part.span if missing is None else missing.span, whole.span)
    if missing is None:
        what = "has its rules in another order than"
    else:
        what = "shows a rule that is not in"
    return Contradiction(
        fact=fact, spans=spans, meaning=f"{spans[0]} {what} the whole chain at {whole.span}"
    )


def _join(first: Chain, second: Chain) -> Chain | None:
    """Join two outputs of one state; None where they show different states."""
    if first.policy and second.policy and first.policy != second.policy:
        return None
    if first.complete and second.complete:
        rules = _join_equal(first.rules, second.rules)
        if rules is None:
            return None
        return _complete(first, second, rules)
    whole, part = (first, second) if first.complete else (second, first)
    if whole.complete or len(whole.rules) >= len(part.rules):
        rules = _join_part(whole.rules, part.rules)
    else:
        whole, part = part, whole
        rules = _join_part(whole.rules, part.rules)
    if rules is None:
        return None
    return _complete(whole, part, rules)


def _complete(leading: Chain, other: Chain, rules: tuple[Rule, ...]) -> Chain:
    """Return the leading output with what only the other one says."""
    complete = leading.complete or other.complete
    return Chain(
        name=leading.name,
        rules=rules,
        policy=leading.policy or other.policy,
        complete=complete,
        in_line=None if complete else leading.in_line,
        span=leading.span or other.span,
        packets=leading.packets if leading.packets is not None else other.packets,
    )


def _join_equal(first: Sequence[Rule], second: Sequence[Rule]) -> tuple[Rule, ...] | None:
    """Join rule by rule; None where a pair differs."""
    if len(first) != len(second):
        return None
    joined: list[Rule] = []
    for one, other in zip(first, second, strict=True):
        if not _agree(one, other):
            return None
        joined.append(_better(one, other))
    return tuple(joined)


def _join_part(whole: Sequence[Rule], part: Sequence[Rule]) -> tuple[Rule, ...] | None:
    """Find a part's rules in the whole, in order; None where one is not there."""
    joined: list[Rule] = []
    rest = list(part)
    for rule in whole:
        if rest and _agree(rule, rest[0]):
            joined.append(_better(rule, rest.pop(0)._replace(position=rule.position)))
        else:
            joined.append(rule)
    return None if rest else tuple(joined)


def _interleave(first: Chain, second: Chain) -> Chain:
    """Put two fragments together: rules that both show keep their order, the others stand where
    they are seen.
    """
    joined: list[Rule] = []
    rest = list(first.rules)
    for rule in second.rules:
        place = next((index for index, other in enumerate(rest) if _agree(rule, other)), None)
        if place is None:
            joined.append(rule)
        else:
            joined += [*rest[:place], _better(rest[place], rule)]
            del rest[: place + 1]
    numbered = [
        rule._replace(position=position) for position, rule in enumerate([*joined, *rest], 1)
    ]
    return replace(_complete(first, second, tuple(numbered)), in_line=0)


def _agree(first: Rule, second: Rule) -> bool:
    """Tell whether two spellings may be of one rule: equal but for counters, as far as both were
    read.
    """
    if not first.unread and not second.unread:
        return first[4:12] == second[4:12]
    names = [rule.target.name for rule in (first, second) if rule.target is not None]
    if len(names) == 2 and names[0] != names[1]:
        return False
    pairs = zip(first[5:11], second[5:11], strict=True)
    return all(one is None or other is None or one == other for one, other in pairs)


def _better(first: Rule, second: Rule) -> Rule:
    """Return the spelling that says more: fully read, then with counters, then the first."""
    if bool(first.unread) != bool(second.unread):
        return second if first.unread else first
    if first.packets is None and second.packets is not None:
        return second
    return first
