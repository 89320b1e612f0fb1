"""What to ask next: the commands whose output tells the possibilities apart, and what each answer would mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from podpath.datapath.trace import Assumption, Conversation, Undecided
from podpath.diagnosis.diagnosis import Question
from podpath.diagnosis.explanations import Explanation
from podpath.diagnosis.worlds import Judgement

MOST = 8


def ask_between(explanations: Sequence[Explanation]) -> tuple[Question, ...]:
    """Give one question for each thing that the possibilities suppose, the likeliest possibility's first.

    Questions with one command are one question: its output answers all of them.
    """
    found: dict[str, Question] = {}
    for number, explanation in enumerate(explanations):
        for fact, ask, meaning, otherwise in _supposed(explanation):
            decides = f"{meaning}: then it is possibility {number + 1} ({_names(explanation)})"
            rest = _otherwise(explanations, number, otherwise)
            old = found.get(ask)
            if old is None:
                found[ask] = Question(fact=fact, ask=ask, decides=(decides, rest))
            elif fact == old.fact:
                found[ask] = Question(
                    fact=old.fact, ask=ask, decides=tuple(dict.fromkeys((*old.decides[:-1], decides, old.decides[-1])))
                )
            else:
                facts = old.fact if fact in old.fact else f"{old.fact}; {fact}"
                found[ask] = Question(
                    fact=facts, ask=ask, decides=tuple(dict.fromkeys((*old.decides[:-1], decides, old.decides[-1])))
                )
    return tuple(found.values())[:MOST]


def _supposed(explanation: Explanation) -> Iterator[tuple[str, str, str, str]]:
    """Give (fact, command, what it is here, what it is else) for each guess of an explanation."""
    for item in explanation.guesses:
        if item.ask:
            yield item.fact, item.ask, item.meaning, item.instead_of


def _names(explanation: Explanation) -> str:
    return ", ".join(dict.fromkeys(blame.cause.check for blame in explanation.blames))


def _otherwise(explanations: Sequence[Explanation], number: int, otherwise: str) -> str:
    following = [other for other in explanations[number + 1 :] if other.key != explanations[number].key]
    place = next((place for place, other in enumerate(explanations) if following and other is following[0]), 0)
    look = f"then look at possibility {place + 1} ({_names(following[0])})" if following else "then it is none of these"
    return f"{otherwise or 'anything else'}: {look}"


def ask_undecided(judgements: Iterable[Judgement]) -> tuple[Question, ...]:
    """Give what would let an undecided walk go on: the boundary that it met."""
    found: dict[str, Question] = {}
    for judgement in judgements:
        for outcome in _boundaries(judgement.conversation):
            ask = outcome.ask or f"look at netns {outcome.netns}"
            found.setdefault(
                ask, Question(fact=outcome.why, ask=ask, decides=(f"then {judgement.symptom.probe} can be walked on",))
            )
    return tuple(found.values())[:MOST]


def _boundaries(conversation: Conversation) -> Iterator[Undecided]:
    for branch in conversation.branches[:1]:
        if branch.traces and isinstance(branch.last.outcome, Undecided):
            yield branch.last.outcome


def ask_guesses(guesses: Iterable[Assumption]) -> tuple[Question, ...]:
    """Give the questions that would confirm what a cause was taken to rest on."""
    questions = (
        Question(fact=made.fact, ask=made.ask, decides=(f"{made.meaning}: as taken here",)) for made in guesses if made.ask
    )
    return tuple({question.ask: question for question in questions}.values())[:MOST]
