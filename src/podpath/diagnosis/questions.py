"""What to ask next: the commands whose output tells the possibilities apart, and what each answer
would mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from podpath.checks.finding import Finding
from podpath.datapath.tracing.trace import Branch, Conversation, Undecided
from podpath.diagnosis.diagnosis import BreakingValue, Question
from podpath.diagnosis.explanations import Explanation
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.forbids import (
    BranchesTruncated,
    ComplaintUnexplained,
    FailsOtherwise,
    FlowsNotWalked,
    Forbids,
    NothingWalked,
    NotShown,
    NotWalkedToTheEnd,
    RestsOnInference,
    RulesLeftOut,
    SomeBranchesFail,
)
from podpath.diagnosis.unread import InputCut, LinesUnread, NotModelled
from podpath.diagnosis.worlds import Judgement, Supposition, deviations_of
from podpath.node.case import Unplaced

MOST = 8


def ask_between(explanations: Sequence[Explanation]) -> tuple[Question, ...]:
    """Return one question for each thing that the possibilities suppose, the likeliest
    possibility's first.

    Questions with one command are one question: its output answers all of them. A switch is asked
    for before what takes a look at several lines.
    """
    found: dict[str, Question] = {}
    for number, explanation in enumerate(explanations):
        guesses = [item for item in explanation.guesses if item.ask]
        for item in sorted(guesses, key=lambda item: not item.ask.startswith("sysctl")):
            _merge(found, item, _decides(explanations, number, item))
    return tuple(found.values())[:MOST]


def _merge(found: dict[str, Question], item: Supposition, decides: tuple[str, ...]) -> None:
    old = found.get(item.ask)
    if old is None:
        found[item.ask] = Question(fact=item.fact, ask=item.ask, decides=decides)
        return
    facts = old.fact if item.fact in old.fact else f"{old.fact}; {item.fact}"
    lines = dict.fromkeys((*old.decides[:-1], *decides[:-1], old.decides[-1]))
    found[item.ask] = replace(old, fact=facts, decides=tuple(lines))


def _decides(
    explanations: Sequence[Explanation], number: int, item: Supposition
) -> tuple[str, ...]:
    """Say what the answer means: that possibility, or the next one that does not rest on it."""
    then = f"{item.meaning}: it is possibility {number + 1} ({_names(explanations[number])})"
    look = "it is none of these"
    for place, other in enumerate(explanations[number + 1 :], number + 2):
        if all(guess.fact != item.fact for guess in other.guesses):
            look = f"look at possibility {place} ({_names(other)})"
            break
    return then, f"{item.instead_of or 'anything else'}: {look}"


def _names(explanation: Explanation) -> str:
    return ", ".join(dict.fromkeys(blame.cause.check for blame in explanation.blames))


def ask_each_once(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Return each command once, where it is first asked for, with all that its output tells."""
    found: dict[str, Question] = {}
    for question in questions:
        first = found.get(question.ask)
        found[question.ask] = question if first is None else _join(first, question)
    return tuple(found.values())


def _join(first: Question, other: Question) -> Question:
    """Return a question that asks for what both of one command ask for."""
    fact = first.fact
    if isinstance(fact, str) and isinstance(other.fact, str) and other.fact not in fact:
        fact = f"{fact}; {other.fact}"
    return replace(first, fact=fact, decides=tuple(dict.fromkeys((*first.decides, *other.decides))))


def ask_undecided(judgements: Iterable[Judgement]) -> tuple[Question, ...]:
    """Return what would let an undecided walk go on: the boundary that it met."""
    found: dict[str, Question] = {}
    for judgement in judgements:
        for outcome in _boundaries(judgement.conversation):
            ask = outcome.ask or f"look at netns {outcome.netns}"
            found.setdefault(
                ask,
                Question(
                    fact=outcome.reason,
                    ask=ask,
                    decides=(f"then {judgement.symptom.probe} can be walked further",),
                ),
            )
    return tuple(found.values())[:MOST]


def ask_what_would_break(judgements: Iterable[Judgement]) -> tuple[Question, ...]:
    """Return the questions on which a connection that was asked about rests: answered otherwise, it
    would fail.
    """
    found: dict[str, Question] = {}
    for judgement in judgements:
        if judgement.fit == Fit.OPEN and judgement.branch is not None and judgement.branch.works:
            for question in _breaking(judgement.conversation, judgement.branch):
                found.setdefault(question.ask, question)
    return tuple(found.values())[:MOST]


def _breaking(conversation: Conversation, branch: Branch) -> Iterator[Question]:
    likeliest = {made.fact: made.meaning for made in branch.assumptions}
    for other in conversation.branches:
        turned = deviations_of(other)
        if other.works is False and len(turned) == 1 and turned[0].ask:
            made = turned[0]
            usual = likeliest.get(made.fact, "otherwise")
            yield Question(
                fact=made.fact,
                ask=made.ask,
                decides=(BreakingValue(made.meaning, other.failure), f"{usual}: it works"),
            )


def ask_for_ends(unplaced: Iterable[Unplaced]) -> tuple[Question, ...]:
    """Return what would let a failure be walked of which an end is not known."""
    return tuple(
        {
            item.ask: Question(fact=item.missing, ask=item.ask, decides=("then it can be walked",))
            for item in unplaced
        }.values()
    )[:MOST]


def ask_for_findings(findings: Iterable[Finding]) -> tuple[Question, ...]:
    """Return what would settle findings that are not certain, the first finding's first."""
    asks = [ask for finding in findings for ask in finding.asks]
    return tuple(
        {
            ask.command: Question(fact=ask.fact, ask=ask.command, decides=(ask.decides,))
            for ask in asks
        }.values()
    )[:MOST]


def ask_for_clearance(forbids: Iterable[Forbids]) -> tuple[Question, ...]:
    """Return what would have to be given for the all-clear, the weightiest first: what no listing
    of a node would tell comes before what one would.
    """
    found: dict[str, Question] = {}
    for one in sorted(forbids, key=lambda forbid: not _asks_elsewhere(forbid)):
        for question in _clearing(one):
            if question.ask:
                found.setdefault(question.ask, question)
    return tuple(found.values())[:MOST]


def _asks_elsewhere(one: Forbids) -> bool:
    return isinstance(one, RestsOnInference) and any(guess.ask for guess in one.guesses)


def _clearing(  # noqa: C901  # one arm for each thing that forbids the all-clear
    one: Forbids,
) -> Iterator[Question]:
    match one:
        case NothingWalked(suggested=suggested):
            example = str(suggested[0]) if suggested else "tcp SOURCE > DESTINATION:PORT"
            yield Question(
                fact="which connection fails",
                ask=f"podpath diagnose ... --probe '{example}'",
                decides=(),
            )
        case SomeBranchesFail(probe=probe, turned=turned):
            for made in turned:
                yield Question(
                    fact=made.fact, ask=made.ask, decides=(f"{made.meaning}: {probe} fails",)
                )
        case RulesLeftOut(probe=probe, assumed=assumed):
            for made in assumed:
                yield Question(
                    fact=made.fact, ask=made.ask, decides=(f"{made.meaning}: {probe} fails",)
                )
        case FailsOtherwise(probe=probe, fact=fact, meaning=meaning, ask=ask):
            yield Question(fact=fact, ask=ask, decides=(f"{meaning}: {probe} fails",))
        case NotWalkedToTheEnd(probe=probe, outcome=outcome):
            yield Question(
                fact=outcome.reason,
                ask=outcome.ask,
                decides=(f"then {probe} can be walked further",),
            )
        case NotModelled(what=what, ask=ask):
            yield Question(fact=what, ask=ask, decides=())
        case NotShown(what=what, netns=netns, ask=ask):
            yield Question(fact=f"{what} of netns {netns}", ask=ask, decides=())
        case RestsOnInference(guesses=guesses):
            asked = next((guess for guess in guesses if guess.ask), guesses[0])
            ask = asked.ask or "podpath snapshot -o node.tar.gz"
            yield Question(fact=asked.why, ask=ask, decides=())
        case ComplaintUnexplained(probe=probe):
            example = str(probe) if probe is not None else "tcp SOURCE > DESTINATION:PORT"
            ask = (
                "tcpdump -ni any"
                if probe is not None
                else f"podpath diagnose ... --probe '{example}'"
            )
            yield Question(fact="where the connection that fails ends", ask=ask, decides=())
        case LinesUnread() | InputCut() | BranchesTruncated() | FlowsNotWalked():
            return
        case _:
            assert_never(one)


def _boundaries(conversation: Conversation) -> Iterator[Undecided]:
    for branch in conversation.branches[:1]:
        if branch.traces and isinstance(branch.last.outcome, Undecided):
            yield branch.last.outcome
