"""Worlds: the node with some facts supposed to be otherwise than stated or likeliest, and how each
explains the symptoms.

A world in which every failing connection fails as it was seen, and every working one works, may be
the real one. What it supposes is what the diagnosis claims; whether the supposition stands in the
evidence decides between a cause and a possibility.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Assumption, Branch, Conversation
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.observation import Agreement, compare
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.unanswered import leave_unanswered
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.node import Node, may_have

LIMIT = 64
"""Branches walked of one conversation: enough for two unknown facts of six options, or ten
endpoints and one unknown fact.
"""
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

    __slots__ = ("_forks", "_plain", "engine", "node", "settled", "suppositions", "unrouted")

    def __init__(
        self,
        node: Node,
        suppositions: tuple[Supposition, ...] = (),
        settled: Mapping[str, object] | None = None,
        engine: Engine | None = None,
        *,
        unrouted: bool = False,
    ) -> None:
        """Make a world; those of one node share its engine. `unrouted` says that nobody outside
        answers a pod's own address.
        """
        self.unrouted = unrouted
        self.node = node
        self.suppositions = suppositions
        self.settled = settled or {}
        self.engine = engine or Engine(node)
        self._plain: dict[Probe, Conversation] = {}
        self._forks: dict[tuple[Probe, int], Conversation] = {}

    def converse(self, probe: Probe) -> Conversation:
        """Walk a connection, once: what is unknown is as it likeliest is, and only the kernel's own
        choices fork.
        """
        found = self._plain.get(probe)
        if found is None:
            found = converse(
                self.engine, self._place(probe), limit=LIMIT, deviations=0, settled=self.settled
            )
            self._plain[probe] = found = (
                leave_unanswered(self.node, found) if self.unrouted else found
            )
        return found

    def fork(self, probe: Probe, branch: Branch) -> Conversation:
        """Walk a connection under every likely answer to what is unknown, with the kernel's choices
        those of a branch.
        """
        found = self._forks.get((probe, id(branch)))
        if found is None:
            drawn = {made.fact: made.value for made in branch.assumptions if made.random}
            settled = {**self.settled, **drawn}
            found = converse(
                self.engine, self._place(probe), limit=LIMIT, deviations=DEVIATIONS, settled=settled
            )
            found = leave_unanswered(self.node, found) if self.unrouted else found
            self._forks[probe, id(branch)] = found
        return found

    def _place(self, probe: Probe) -> Probe:
        """Return the probe without a namespace or device that this world lacks: a guessed pod may
        be missing in another state, and so may a device.
        """
        device = probe.in_dev
        if self.suppositions and device is not None and not may_have(self.node, device):
            probe = probe._replace(in_dev=None)
        lacking = (
            bool(self.suppositions)
            and probe.netns is not None
            and probe.netns not in self.node.namespaces
        )
        return probe._replace(netns=None) if lacking else probe

    def suppose(
        self, assumptions: Iterable[Assumption], likeliest: Mapping[str, Assumption]
    ) -> World:
        """Return the world in which these options hold instead of the likeliest ones."""
        made = tuple(assumptions)
        suppositions = tuple(
            Supposition(
                item.fact,
                item.meaning,
                likeliest[item.fact].meaning if item.fact in likeliest else "",
                item.ask,
                item.span,
                likeliest[item.fact].span if item.fact in likeliest else None,
                item.value,
                likeliest[item.fact].value if item.fact in likeliest else None,
            )
            for item in made
        )
        settled = {**self.settled, **{item.fact: item.value for item in made}}
        return World(self.node, (*self.suppositions, *suppositions), settled, self.engine)


class DecisiveAssumption(NamedTuple):
    """An assumption without which the connection works, and the one with which it does."""

    made: Assumption
    turned: Assumption


class Judgement(NamedTuple):
    """What a world says of one symptom."""

    symptom: Symptom
    conversation: Conversation
    branch: Branch | None
    """The branch that explains the symptom best; the likeliest one where none does."""
    fit: Fit
    agreement: Agreement = Agreement(0, ())
    world: World | None = None

    @property
    def turns(self) -> tuple[DecisiveAssumption, ...]:
        """Return the assumptions that the explanation rests on, stated or not: with one of them
        turned, the connection works.
        """
        if self.branch is None or self.world is None:
            return ()
        return tuple(
            essential_assumptions(self.world.fork(self.symptom.probe, self.branch), self.branch)
        )

    @property
    def guesses(self) -> tuple[DecisiveAssumption, ...]:
        """Return those of them that no line speaks for."""
        return tuple(turn for turn in self.turns if turn.made.span is None)


def judge(world: World, symptom: Symptom) -> Judgement:
    """Walk a symptom's connection through a world and say whether that explains it."""
    conversation = world.converse(symptom.probe)
    plain = conversation.branches
    if symptom.fails is None:
        failing = next((branch for branch in plain if branch.works is False), plain[0])
        return Judgement(symptom, conversation, failing, Fit.OPEN, world=world)
    if not symptom.fails:
        unsettled = Fit.UNDECIDED if _unsettled(plain) else Fit.CONTRADICTS
        fit = Fit.KEEPS if any(branch.works for branch in plain) else unsettled
        return Judgement(symptom, conversation, plain[0], fit, world=world)
    ranked = sorted(
        ((compare(branch, symptom), branch) for branch in plain if branch.works is False),
        key=_by_agreement,
    )
    if ranked and ranked[0][0].consistent:
        return Judgement(symptom, conversation, ranked[0][1], Fit.EXPLAINS, ranked[0][0], world)
    if _unsettled(plain):
        return Judgement(symptom, conversation, plain[0], Fit.UNDECIDED, world=world)
    agreement, branch = ranked[0] if ranked else (Agreement(0, ()), plain[0])
    return Judgement(symptom, conversation, branch, Fit.CONTRADICTS, agreement, world)


def deviations_of(branch: Branch) -> tuple[Assumption, ...]:
    """Return the assumptions of a branch that are not the likeliest; what the kernel draws at
    random is none.
    """
    return tuple(made for made in branch.assumptions if made.rank and not made.random)


def essential_assumptions(
    conversation: Conversation, branch: Branch
) -> Iterator[DecisiveAssumption]:
    """Yield the branch's assumptions without which the connection works: another branch turns one
    of them, and it does.
    """
    mine = {made.fact: made for made in branch.assumptions if not made.random}
    told: set[str] = set()
    for other in conversation.branches:
        if other.works:
            turned = [
                made for made in other.assumptions if not made.random and _differs(made, mine)
            ]
            if len(turned) == 1 and turned[0].fact not in told:
                told.add(turned[0].fact)
                yield DecisiveAssumption(mine[turned[0].fact], turned[0])


def list_worlds(
    base: World, alternatives: Sequence[World], symptoms: Sequence[Symptom]
) -> Iterator[World]:
    """Yield every world that may explain some failing symptom: the stated ones, then those that
    differ in one or two facts.
    """
    seen: set[tuple[int, frozenset[tuple[str, int]]]] = set()
    for place, world in enumerate((base, *alternatives)):
        yield world
        for symptom in symptoms:
            if symptom.fails is not True and not symptom.asked:
                continue
            conversation = world.fork(symptom.probe, _anchor(world, symptom))
            likeliest = {
                made.fact: made
                for branch in conversation.branches
                for made in branch.assumptions
                if not made.rank
            }
            for branch in conversation.branches:
                deviations = deviations_of(branch)
                key = (place, frozenset((made.fact, made.rank) for made in deviations))
                if (
                    branch.works is not False
                    or not deviations
                    or key in seen
                    or _has_part(seen, key)
                ):
                    continue
                if compare(branch, symptom).consistent:
                    seen.add(key)
                    yield world.suppose(deviations, likeliest)


def _anchor(world: World, symptom: Symptom) -> Branch:
    """Return the branch whose random choices are those that a capture shows: the endpoint that was
    drawn, say.
    """
    branches = world.converse(symptom.probe).branches
    return max(
        branches, key=lambda branch: (compare(branch, symptom).matched, branch.works is False)
    )


def _has_part(
    seen: set[tuple[int, frozenset[tuple[str, int]]]], key: tuple[int, frozenset[tuple[str, int]]]
) -> bool:
    """Tell whether a part of the suppositions alone is a world already: the rest of them explains
    nothing more.
    """
    return any(place == key[0] and parts < key[1] for place, parts in seen)


def _differs(made: Assumption, mine: Mapping[str, Assumption]) -> bool:
    kept = mine.get(made.fact)
    return kept is not None and kept.rank != made.rank


def _unsettled(branches: Sequence[Branch]) -> bool:
    return any(branch.works is None for branch in branches)


def _by_agreement(pair: tuple[Agreement, Branch]) -> tuple[int, int]:
    return len(pair[0].against), -pair[0].matched
