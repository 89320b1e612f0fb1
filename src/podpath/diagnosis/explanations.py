"""Explanations ranked: each world with what it explains, what speaks against it, and how much of it
is a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from podpath.checks.cause import Cause
from podpath.datapath.conversations.places import UNSEEN
from podpath.diagnosis.causes import find_cause
from podpath.diagnosis.connections import ConnectionFrame
from podpath.diagnosis.felt import can_look_like
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.hypotheses import suppose_unshown, turn_stated_facts
from podpath.diagnosis.resting import find_guesses, is_seen_throughout
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.unanswered import UNANSWERED
from podpath.diagnosis.untranslated import list_translations_left_out
from podpath.diagnosis.worlds import Judgement, Supposition, World, judge, list_worlds
from podpath.net.failures import FailureKind
from podpath.net.provenance import Inferred
from podpath.node.case import Case
from podpath.node.node import HOST

PRIORS: dict[str, float] = {
    "rp-filter": 0.9,
    "br-netfilter": 0.8,
    "chain-order": 0.8,
    "forward-policy": 0.7,
    "ip-forward": 0.6,
    "dropped-by-rule": 0.5,
    "untranslated-reply": 0.5,
    "no-route": 0.4,
    "missing-masquerade": 0.4,
    "neighbour-failed": 0.3,
    "packet-size": 0.3,
}
"""How often a fault is met on Kubernetes nodes: only an order, used between explanations that are
equal otherwise.
"""
RARE = 0.2
TOLD = frozenset({
    FailureKind.REFUSED, FailureKind.NO_ROUTE_TO_HOST, FailureKind.INVALID_ARGUMENT,
    FailureKind.ACCESS_DENIED,
})  # fmt: skip
"""Failures that somebody answers with at once."""
WORLDS = 48
"""Worlds that are looked at: the stated ones come first, then single suppositions, then pairs."""
TELLING_FRAMES = 3
"""Frames that have to be just as predicted for a guess to count as seen: the first two of a
handshake fit many worlds.
"""


class Blame(NamedTuple):
    """A cause, and the failing connections that it ended."""

    cause: Cause
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A world, and how it accounts for the symptoms."""

    world: World
    judgements: tuple[Judgement, ...]
    blames: tuple[Blame, ...]
    """What ended each connection that it explains, each cause once."""

    @property
    def explained(self) -> tuple[Judgement, ...]:
        """Return the failing connections that fail here as they were seen to."""
        return tuple(judgement for judgement in self.judgements if judgement.fit == Fit.EXPLAINS)

    @property
    def contradicted(self) -> int:
        """Count the connections that end here otherwise than the evidence says."""
        return sum(judgement.fit == Fit.CONTRADICTS for judgement in self.judgements)

    @property
    def broken(self) -> int:
        """Count the connections that worked, and fail here."""
        return sum(
            judgement.fit == Fit.CONTRADICTS and judgement.symptom.fails is False
            for judgement in self.judgements
        )

    @property
    def unlike(self) -> int:
        """Count the connections that it explains, and that fail here in another way than they were
        seen to.
        """
        judged = [(judgement.branch, judgement.symptom.kind) for judgement in self.explained]
        return sum(
            branch is not None and not can_look_like(branch, kind) for branch, kind in judged
        )

    @property
    def matched(self) -> int:
        """Count the captured frames that are just as this world predicts."""
        return sum(judgement.agreement.matched for judgement in self.explained)

    @property
    def guesses(self) -> tuple[Supposition, ...]:
        """Return what it rests on that no line speaks for."""
        made = [item for item in self.world.suppositions if item.span is None]
        for judgement in self.explained:
            made += [
                Supposition(
                    turn.made.fact, turn.made.meaning, turn.turned.meaning, turn.made.ask, None
                )
                for turn in judgement.guesses
            ]
            made += _made_up_start(self.world, judgement)
        for blame in self.blames:
            made += _left_out(blame.cause)
        return tuple({item.fact: item for item in made}.values())

    @property
    def inferences(self) -> tuple[Inferred, ...]:
        """Return the guesses of the assembly that its causes rest on: what no output shows, and the
        walk took for granted.
        """
        found: list[Inferred] = []
        for cause, judged in self.blames:
            found += find_guesses(self.world.node, judged[0].symptom.probe, cause)
        return tuple(dict.fromkeys(found))

    @property
    def is_seen_throughout(self) -> bool:
        """Tell whether captured frames show what its causes rest on of the node that was made
        up.
        """
        return all(
            is_seen_throughout(
                self.world.node, judged[0].symptom.probe, cause, _list_frames(judged)
            )
            for cause, judged in self.blames
        )

    @property
    def is_stated(self) -> bool:
        """Tell whether every part of it is stated, or follows from what is."""
        return not self.guesses and not self.inferences

    @property
    def is_idle_guess(self) -> bool:
        """Tell whether it rests on guesses, and everything that it explains got an error at once,
        which a silent drop does not do.
        """
        kinds = {judgement.symptom.kind for judgement in self.explained}
        told = bool(kinds) and kinds <= TOLD and self.unlike == len(self.explained)
        return told and not self.matched and not self.is_stated

    @property
    def plausibility(self) -> float:
        """Weigh equals: the commonest fault first, less for every supposition."""
        prior = max((PRIORS.get(blame.cause.check, RARE) for blame in self.blames), default=RARE)
        return float(prior * 0.85 ** len(self.guesses))

    @property
    def rank(self) -> tuple[float, ...]:
        """Order explanations: what breaks nothing that worked and explains most first, then the
        stated, then the plausible.

        What fails in another way than it was seen to explains nothing as well as what fails alike.
        """
        stated = [item for item in self.world.suppositions if item.span is not None]
        return (
            self.broken,
            self.unlike - len(self.explained),
            self.contradicted,
            not self.is_stated,
            -self.matched,
            -self.plausibility,
            len(stated),
        )

    @property
    def key(self) -> tuple[object, ...]:
        """Tell explanations apart by their causes, not by the facts through which they come
        about.
        """
        return tuple(
            sorted(
                {
                    (blame.cause.check, blame.cause.step.netns, blame.cause.step.stage)
                    for blame in self.blames
                }
            )
        )


def _list_frames(judged: Iterable[Judgement]) -> list[ConnectionFrame]:
    seen = (observed for judgement in judged for observed in judgement.symptom.observed)
    return [frame for observed in seen for frame in observed.seen]


def _left_out(cause: Cause) -> Iterator[Supposition]:
    """Yield what the cause's table took for granted of the rules that the evidence leaves out."""
    for made in cause.step.assumed:
        instead = "one of them lets the packet pass, or ends it before"
        yield Supposition(made.fact, made.meaning, instead, made.ask, None)
    for made in list_translations_left_out(cause.branch):
        yield Supposition(made.fact, made.meaning, "one of them translates it", made.ask, None)


def _made_up_start(world: World, judgement: Judgement) -> Iterator[Supposition]:
    """Yield the guess by which device a sender's packets come in, where a connection is asked about
    that no output speaks of.
    """
    symptom, branch = judgement.symptom, judgement.branch
    if not symptom.asked or branch is None or symptom.probe.in_dev is not None:
        return
    first = next(
        (
            step.link
            for step in branch.traces[0].steps
            if step.netns == HOST and step.link is not None
        ),
        None,
    )
    port = world.engine.namespace(HOST).links.get(first) if first is not None else None
    if port is not None and port.master is not None:
        return  # rules see the bridge, and that is known
    if branch.traces[0].start == HOST and first == UNSEEN.name and symptom.probe.netns is None:
        address = symptom.probe.src
        yield Supposition(
            f"the device behind which {address} is",
            f"{first}: a device that no rule names",
            "a device that rules name",
            f"ip route get {address}",
            None,
        )


def explain(case: Case, symptoms: Sequence[Symptom]) -> tuple[Explanation, ...]:
    """Return every explanation of at least one failing connection, the best first, one for each set
    of causes.
    """
    found = _rank(list_worlds(World(case.node), list(_alternatives(case)), symptoms), symptoms)
    if found and found[0].is_stated and is_certain(found[0], found):
        return found
    supposed = _rank(suppose_unshown(case, symptoms), symptoms)
    keys = {explanation.key for explanation in found}
    found = tuple(
        sorted(
            (*found, *(other for other in supposed if other.key not in keys)),
            key=lambda other: other.rank,
        )
    )
    turned = (
        ()
        if any(explanation.matched for explanation in found)
        else _rank(turn_stated_facts(case), symptoms)
    )
    best = turned[0] if turned else None
    return turned if best is not None and (not found or best.matched) else found


def _rank(worlds: Iterable[World], symptoms: Sequence[Symptom]) -> tuple[Explanation, ...]:
    found: dict[tuple[object, ...], Explanation] = {}
    for world in islice(worlds, WORLDS):
        explanation = assess(world, symptoms)
        if explanation.explained and not explanation.is_idle_guess:
            best = found.get(explanation.key)
            if best is None or explanation.rank < best.rank:
                found[explanation.key] = explanation
    return tuple(sorted(found.values(), key=lambda explanation: explanation.rank))


def assess(world: World, symptoms: Iterable[Symptom]) -> Explanation:
    """Judge every symptom in a world."""
    judgements = tuple(judge(world, symptom) for symptom in symptoms)
    return Explanation(world=world, judgements=judgements, blames=tuple(_blame(world, judgements)))


def _blame(world: World, judgements: Iterable[Judgement]) -> Iterator[Blame]:
    """Yield each cause once, told of a connection that rests on no guess where there is one: what
    is certain of it need not be of another.
    """
    found: dict[tuple[object, ...], list[tuple[Cause, Judgement]]] = {}
    for judgement in judgements:
        if judgement.fit == Fit.EXPLAINS and judgement.branch is not None:
            cause = find_cause(world.node, judgement.branch)
            if cause is not None:
                found.setdefault(cause.key, []).append((cause, judgement))
    for told in found.values():
        told.sort(key=lambda one: _is_guessed(world, one[1]))
        yield Blame(told[0][0], tuple(judgement for _, judgement in told))


def _is_guessed(world: World, judgement: Judgement) -> bool:
    """Tell whether how a connection fails rests on what no line speaks for."""
    return bool(judgement.guesses) or any(_made_up_start(world, judgement))


def is_certain(best: Explanation, others: Sequence[Explanation]) -> bool:
    """Tell whether an explanation is the cause and not one of several possibilities.

    It is where every part of it is stated, and no connection fails in a way that it cannot make. A
    fact that nobody stated is as good where it alone explains what a capture shows, frame by frame;
    what was made up of the node, such as a route or the owner of an address, must be seen in them.
    What becomes of a packet that left and has no answer is not told by frames: a far end that is
    silent looks the same.
    """
    if best.broken or best.unlike:
        return False
    if best.is_stated:
        return True
    rivals = [
        other
        for other in others
        if other is not best and not other.broken and len(other.explained) >= len(best.explained)
    ]
    told = not rivals and best.matched >= TELLING_FRAMES and not best.contradicted
    told = told and not any(_is_past_sight(judgement) for judgement in best.explained)
    return told and best.is_seen_throughout


def _is_past_sight(judgement: Judgement) -> bool:
    """Tell whether a connection fails after the last packet that was seen of it: nobody can answer
    what left the node, or what passed the host has no answer.
    """
    unanswered = judgement.branch is not None and judgement.branch.kind is UNANSWERED
    return unanswered or bool(judgement.symptom.passed)


def _alternatives(case: Case) -> Iterator[World]:
    for other in case.alternatives:
        if not other.good:
            yield World(
                other.node,
                (Supposition(other.fact, other.meaning, other.instead_of, other.ask, other.span),),
            )
