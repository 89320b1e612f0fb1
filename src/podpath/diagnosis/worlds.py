"""Worlds: the node with some facts supposed to be otherwise than stated or likeliest, and how each explains the symptoms.

A world in which every failing connection fails as it was seen, and every working one works, may be the real one. What it
supposes is what the diagnosis claims; whether the supposition stands in the evidence decides between a cause and a possibility.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from podpath.datapath.compiled import Engine
from podpath.datapath.conversation import converse
from podpath.datapath.trace import Assumption, Branch, Conversation
from podpath.diagnosis.observation import Agreement, compare
from podpath.diagnosis.symptoms import Symptom
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.node import Node

LIMIT = 64
"""Branches walked of one conversation: enough for two unknown facts of six options, or ten endpoints and one unknown fact."""
DEVIATIONS = 2
"""Unknown facts that are turned at once: single causes first, then pairs."""


class Supposition(NamedTuple):
    """One thing that a world takes to be otherwise than the likeliest."""

    fact: str
    meaning: str
    """What it is in this world, in words."""
    instead_of: str
    ask: str
    span: Span | None
    """The line that speaks for it; None for a guess."""
    contradicts: Span | None = None
    """The line that states otherwise."""
    value: object = None
    other: object = None
    """The value itself, and the one that it stands instead of."""


class World:
    """A node, what is supposed of it, and the conversations walked through it so far."""

    __slots__ = ("_conversations", "engine", "node", "settled", "suppositions")

    def __init__(
        self, node: Node, suppositions: tuple[Supposition, ...] = (), settled: Mapping[str, object] | None = None,
        engine: Engine | None = None,
    ) -> None:  # fmt: skip
        """Make a world; those of one node share its engine."""
        self.node = node
        self.suppositions = suppositions
        self.settled = settled or {}
        self.engine = engine or Engine(node)
        self._conversations: dict[Probe, Conversation] = {}

    def converse(self, probe: Probe) -> Conversation:
        """Walk a connection, once."""
        found = self._conversations.get(probe)
        if found is None:
            found = converse(self.engine, probe, limit=LIMIT, deviations=DEVIATIONS, settled=self.settled)
            self._conversations[probe] = found
        return found

    def suppose(self, assumptions: Iterable[Assumption], likeliest: Mapping[str, Assumption]) -> World:
        """Give the world in which these options hold instead of the likeliest ones."""
        made = tuple(assumptions)
        suppositions = tuple(
            Supposition(
                item.fact, item.meaning, likeliest[item.fact].meaning if item.fact in likeliest else "", item.ask, item.span,
                likeliest[item.fact].span if item.fact in likeliest else None, item.value,
                likeliest[item.fact].value if item.fact in likeliest else None,
            )
            for item in made
        )  # fmt: skip
        settled = {**self.settled, **{item.fact: item.value for item in made}}
        return World(self.node, (*self.suppositions, *suppositions), settled, self.engine)


class Judgement(NamedTuple):
    """What a world says of one symptom."""

    symptom: Symptom
    conversation: Conversation
    branch: Branch | None
    """The branch that explains the symptom best; the likeliest one where none does."""
    fit: str
    """`explains`, `keeps` (it worked, and works), `contradicts`, `undecided`, `open` (nobody says what became of it)."""
    agreement: Agreement = Agreement(0, ())

    @property
    def guesses(self) -> tuple[Assumption, ...]:
        """Give the assumptions that the explanation rests on and no line speaks for: turned, the connection works."""
        if self.branch is None:
            return ()
        pairs = essential_assumptions(self.conversation, self.branch)
        return tuple(pair.made for pair in pairs if pair.made.span is None)


def judge(world: World, symptom: Symptom) -> Judgement:
    """Walk a symptom's connection through a world and say whether that explains it."""
    conversation = world.converse(symptom.probe)
    plain = [branch for branch in conversation.branches if not deviations_of(branch)]
    first = plain[0] if plain else None
    if symptom.fails is None:
        failing = next((branch for branch in plain if branch.works is False), None)
        return Judgement(symptom, conversation, failing or first, "open")
    if not symptom.fails:
        fit = "keeps" if any(branch.works for branch in plain) else "undecided" if _unsettled(plain) else "contradicts"
        return Judgement(symptom, conversation, first, fit)
    failing_branches = [branch for branch in plain if branch.works is False]
    ranked = sorted(((compare(branch, symptom.observed), branch) for branch in failing_branches), key=_by_agreement)
    if ranked and ranked[0][0].consistent:
        return Judgement(symptom, conversation, ranked[0][1], "explains", ranked[0][0])
    if _unsettled(plain):
        return Judgement(symptom, conversation, first, "undecided")
    return Judgement(
        symptom, conversation, ranked[0][1] if ranked else first, "contradicts", ranked[0][0] if ranked else Agreement(0, ())
    )


def deviations_of(branch: Branch) -> tuple[Assumption, ...]:
    """Give the assumptions of a branch that are not the likeliest; what the kernel draws at random is none."""
    return tuple(made for made in branch.assumptions if made.rank and not made.random)


class Turn(NamedTuple):
    """An assumption without which the connection works, and the one with which it does."""

    made: Assumption
    turned: Assumption


def essential_assumptions(conversation: Conversation, branch: Branch) -> Iterator[Turn]:
    """Give the branch's assumptions without which the connection works: another branch turns one of them, and it does."""
    mine = {made.fact: made for made in branch.assumptions if not made.random}
    for other in conversation.branches:
        if other.works:
            turned = [made for made in other.assumptions if not made.random and _differs(made, mine)]
            kept = mine.get(turned[0].fact) if len(turned) == 1 else None
            if kept is not None:
                del mine[kept.fact]
                yield Turn(kept, turned[0])


def list_worlds(base: World, alternatives: Sequence[World], symptoms: Sequence[Symptom]) -> Iterator[World]:
    """Give every world that may explain some failing symptom: the stated ones, then those that differ in one or two facts."""
    seen: set[tuple[int, frozenset[tuple[str, int]]]] = set()
    for place, world in enumerate((base, *alternatives)):
        yield world
        for symptom in symptoms:
            if symptom.fails is not True and not symptom.asked:
                continue
            conversation = world.converse(symptom.probe)
            likeliest = {made.fact: made for branch in conversation.branches for made in branch.assumptions if not made.rank}
            for branch in conversation.branches:
                deviations = deviations_of(branch)
                key = (place, frozenset((made.fact, made.rank) for made in deviations))
                if branch.works is not False or not deviations or key in seen or _has_part(seen, key):
                    continue
                if compare(branch, symptom.observed).consistent:
                    seen.add(key)
                    yield world.suppose(deviations, likeliest)


def _has_part(seen: set[tuple[int, frozenset[tuple[str, int]]]], key: tuple[int, frozenset[tuple[str, int]]]) -> bool:
    """Tell whether a part of the suppositions alone is a world already: the rest of them explains nothing more."""
    return any(place == key[0] and parts < key[1] for place, parts in seen)


def _differs(made: Assumption, mine: Mapping[str, Assumption]) -> bool:
    kept = mine.get(made.fact)
    return kept is not None and kept.rank != made.rank


def _unsettled(branches: Sequence[Branch]) -> bool:
    return any(branch.works is None for branch in branches)


def _by_agreement(pair: tuple[Agreement, Branch]) -> tuple[int, int]:
    return len(pair[0].against), -pair[0].matched
