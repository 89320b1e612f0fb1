"""What the evidence claims about one fact, and what becomes of claims that disagree.

Claims that agree are one known fact. Where they differ, the likeliest comes first and none is lost:
a field of the node that is a `Fact` becomes unknown with all of them as options; anything else is
decided for the likeliest, and the other ways are remembered, so that the case can show the node as
it would be with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from podpath.assembly.scenes.labels import StateLikelihood, spell_meaning
from podpath.net.provenance import Fact, Gap, Known, Option, Span, Unknown, list_spans
from podpath.node.case import Contradiction

T = TypeVar("T")


class DisputeClaim(NamedTuple, Generic[T]):
    """One output, or one inference, that speaks for a value."""

    value: T
    span: Span | None
    standing: StateLikelihood = StateLikelihood.PLAIN
    meaning: str = ""
    """What the value stands for, where its line alone does not say; empty: `as at FILE:LINE`."""
    shown: bool = True
    """False for what follows from something else than an output of the value: it is no witness of a
    contradiction.
    """

    @property
    def option(self) -> Option[T]:
        """The claim as an option of an unknown fact."""
        return Option(self.value, self.meaning or spell_meaning(self.span), self.span)


class Fork(NamedTuple):
    """A place where one of several ways was taken that are no `Fact` of the node."""

    fact: str
    ask: str
    ways: tuple[Option[object], ...]
    """The likeliest first."""
    standings: tuple[StateLikelihood, ...]
    taken: int


class Disputes:
    """Keeps what could not be settled while a node is put together. Mutable, local to one run of
    the assembly.
    """

    __slots__ = ("_selection", "contradictions", "forks", "gaps")

    def __init__(self, selection: Mapping[str, int] | None = None) -> None:
        """Start a run. `selection` gives, by the fact's name, the way to take instead of the
        likeliest.
        """
        self._selection = selection or {}
        self.contradictions: list[Contradiction] = []
        self.forks: list[Fork] = []
        self.gaps: list[Gap] = []

    def gap(self, span: Span | None, why: str) -> None:
        """Keep something that stands in the evidence and could not be used."""
        if span is not None:
            self.gaps.append(Gap(span, why))

    def settle(self, fact: str, ask: str, claims: Iterable[DisputeClaim[T]]) -> Fact[T] | None:
        """Make one fact of all claims: known where they agree, unknown where they differ; None
        where there are none.
        """
        ranked = rank_claims(claims)
        if not ranked:
            return None
        first = ranked[0]
        if len(ranked) == 1:
            return Known(first.value, first.span, first.meaning)
        self._contradict(fact, ranked)
        return Unknown(fact, ask, tuple(claim.option for claim in ranked), _why(ranked))

    def decide(self, fact: str, ask: str, claims: Iterable[DisputeClaim[T]]) -> T:
        """Take the likeliest of the claims (at least one), or the one that this run is told to
        take.
        """
        ranked = rank_claims(claims)
        if len(ranked) == 1:
            return ranked[0].value
        taken = min(self._selection.get(fact, 0), len(ranked) - 1)
        self._contradict(fact, ranked)
        standings = tuple(claim.standing for claim in ranked)
        ways = tuple(Option[object](*claim.option) for claim in ranked)
        self.forks.append(Fork(fact, ask, ways, standings, taken))
        return ranked[taken].value

    def _contradict(self, fact: str, ranked: Sequence[DisputeClaim[T]]) -> None:
        """Note outputs of one node that differ; what another host shows contradicts nothing."""
        shown = [
            claim
            for claim in ranked
            if claim.shown
            and claim.span is not None
            and claim.standing is not StateLikelihood.ELSEWHERE
        ]
        if len(shown) > 1:
            spans = tuple(dict.fromkeys(list_spans(shown)))
            states = "; ".join(
                f"{_spell(claim.value)} {claim.option.meaning}".strip() for claim in shown
            )
            self.contradictions.append(Contradiction(fact=fact, spans=spans, meaning=states))


def rank_claims(claims: Iterable[DisputeClaim[T]]) -> list[DisputeClaim[T]]:
    """Return one claim for each value, the likeliest first: by standing, then in the order of the
    evidence.
    """
    found: list[DisputeClaim[T]] = []
    for claim in claims:
        for place, other in enumerate(found):
            if other.value == claim.value:
                if claim.standing < other.standing:
                    found[place] = claim
                break
        else:
            found.append(claim)
    return sorted(found, key=lambda claim: claim.standing)


def _why(ranked: Sequence[DisputeClaim[T]]) -> str:
    if sum(claim.shown for claim in ranked) > 1:
        return "outputs disagree"
    changed = any(claim.standing is StateLikelihood.AFTER for claim in ranked)
    if changed:
        return "it was changed on the way"
    return "not in the evidence"


def _spell(value: object) -> str:
    text = str(value) if isinstance(value, (str, int, bool)) or hasattr(value, "family") else ""
    return text if len(text) <= 60 else ""
