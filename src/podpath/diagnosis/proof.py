"""Is a repair a cure? The changed node is walked: the failing connection has to work, and no other
may change unasked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from podpath.checks.cause import Cause
from podpath.checks.finding import Repair
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Branch, Conversation
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.causes import find_cause
from podpath.diagnosis.resting import list_guesses
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import Judgement, World, deviations_of
from podpath.net.probe import Probe
from podpath.node.alteration import apply_changes
from podpath.node.node import Node
from podpath.node.settling import settle_facts

BRANCHES = 16
"""Branches of one conversation that a proof walks: what the kernel draws at random, on facts that
are settled.
"""
TRIES = 12
"""Candidates that are walked for one cause."""


class Prover:
    """Tries repairs on the world that a diagnosis arrived at. What works before is walked once."""

    def __init__(
        self,
        world: World,
        judgement: Judgement,
        cause: Cause,
        symptoms: Sequence[Symptom],
        flows: Iterable[Probe],
    ) -> None:
        """Fix the world to the branch that explains the symptom: its assumptions hold before and
        after a repair.
        """
        branch = judgement.branch
        assumed = (
            {made.fact: made.value for made in branch.assumptions if not made.random}
            if branch is not None
            else {}
        )
        self._settled = {**world.settled, **assumed}
        self.node = settle_facts(world.node, self._settled)
        """The node as the explanation has it, nothing of it unsettled that the walk met."""
        self._probe = judgement.symptom.probe
        self._failing = frozenset(symptom.probe for symptom in symptoms if symptom.fails is True)
        self._cause = cause
        others = dict.fromkeys((*(symptom.probe for symptom in symptoms), *flows))
        self._others = tuple(probe for probe in others if _ends(probe) != _ends(self._probe))
        self._before: dict[Probe, Conversation] = {}

    def prove(self, candidates: Iterable[Repair]) -> tuple[Repair, ...]:
        """Return the first candidate that cures, with what else it changes; what the model has no
        word for where none does.

        One that changes nothing else is preferred to an earlier one that does. A cure is not proven
        where the walk passes a guess: a namespace that was inferred, a stand-in that answers.
        """
        tried: list[Repair] = []
        cures: list[Repair] = []
        for repair in candidates:
            if len(tried) >= TRIES:
                break
            tried.append(repair)
            node = apply_changes(self.node, repair.changes) if repair.changes else None
            cured = self._converse(Engine(node), self._probe) if node is not None else None
            if node is None or cured is None or describe(cured) != "works":
                continue
            proven = "" if list_guesses(node, cured) else "simulated"
            cure = replace(repair, proven=proven, side_effects=self._effects(node))
            cures.append(cure)
            if not cure.side_effects:
                break
        if cures:
            return (min(cures, key=lambda repair: len(repair.side_effects)),)
        return tuple(repair for repair in tried if not repair.changes)

    def _effects(self, node: Node) -> tuple[str, ...]:
        """Say which other connections change. Those that failed for the same reason, or in the
        evidence, are part of the cure.
        """
        engine, effects = Engine(node), []
        for probe in self._others:
            if probe not in self._before:
                self._before[probe] = self._converse(Engine(self.node), probe)
            before, after = describe(self._before[probe]), describe(self._converse(engine, probe))
            cured = after == "works" and (
                probe in self._failing or self._has_same_cause(self._before[probe])
            )
            if before != after and not cured:
                effects.append(f"{probe}: {before} before, {after} after")
        return tuple(effects)

    def _has_same_cause(self, conversation: Conversation) -> bool:
        """Tell whether the same fault ends this connection too."""
        causes = (
            find_cause(self.node, branch)
            for branch in conversation.branches
            if branch.works is False
        )
        return any(cause is not None and cause.check == self._cause.check for cause in causes)

    def _converse(self, engine: Engine, probe: Probe) -> Conversation:
        return converse(engine, probe, limit=BRANCHES, deviations=0, settled=self._settled)


def _ends(probe: Probe) -> tuple[object, ...]:
    return probe.protocol, probe.src, probe.dst, probe.dport


def describe(conversation: Conversation) -> str:
    """Say what becomes of a connection when nothing unlikely is supposed: `works`, `fails`, `is
    undecided`, or now and then.
    """
    plain: list[Branch] = [branch for branch in conversation.branches if not deviations_of(branch)]
    results = {branch.works for branch in plain}
    if results == {True}:
        return "works"
    if results == {False}:
        return "fails"
    return "is undecided" if None in results or not results else "works now and then"
