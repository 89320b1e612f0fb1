"""What follows from the explanations: causes that are sure, possibilities that are not, and what
tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from podpath.checks.finding import Finding
from podpath.diagnosis.diagnosis import Question
from podpath.diagnosis.explanations import Explanation, explain, is_certain
from podpath.diagnosis.findings import make_findings, weigh
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.questions import ask_between, ask_undecided, ask_what_would_break
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import Judgement, World, judge
from podpath.net.probe import Probe
from podpath.node.case import Case

POSSIBILITIES = 6
"""How many possible causes are told: beyond that a list helps nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What the walks say of all symptoms."""

    causes: tuple[Finding, ...] = ()
    """Those that are sure."""
    possible: tuple[Finding, ...] = ()
    """What may be the cause of the rest, the likeliest first."""
    questions: tuple[Question, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    """One for each symptom, in the world that explains it."""
    unexplained: tuple[Symptom, ...] = ()
    """Failing connections that nothing explains."""


def conclude(case: Case, symptoms: Sequence[Symptom], flows: Sequence[Probe]) -> Conclusion:
    """Take what is sure first, then look for what may explain the failures that are left."""
    failing = [symptom for symptom in symptoms if symptom.fails is True]
    explanations = explain(case, symptoms) if failing else ()
    if not explanations:
        return _explain_nothing(case, symptoms, failing)
    sure = _choose_sure(explanations)
    if sure is None:
        return _weigh_possibilities(explanations, symptoms, flows)
    return _take_sure(case, sure, symptoms, flows)


def _explain_nothing(
    case: Case, symptoms: Sequence[Symptom], failing: Sequence[Symptom]
) -> Conclusion:
    """Return the walks of the node as it is, where nothing fails or nothing explains it."""
    world = World(case.node)
    judgements = tuple(_look_further(judge(world, symptom)) for symptom in symptoms)
    questions = ask_undecided(judgements) if failing else ask_what_would_break(judgements)
    return Conclusion(judgements=judgements, unexplained=tuple(failing), questions=questions)


def _take_sure(
    case: Case, sure: Explanation, symptoms: Sequence[Symptom], flows: Sequence[Probe]
) -> Conclusion:
    """Take a sure explanation, and go on with the failures that it leaves."""
    explained = {id(judgement.symptom) for judgement in sure.explained}
    left = [symptom for symptom in symptoms if id(symptom) not in explained]
    causes = tuple(make_findings(sure, symptoms, flows))
    if not any(symptom.fails for symptom in left):
        return Conclusion(causes=causes, questions=ask_between((sure,)), judgements=sure.judgements)
    rest = conclude(case, left, flows)
    known = {finding.check for finding in causes}
    further = tuple(finding for finding in rest.causes if finding.check not in known)
    return Conclusion(
        causes=(*causes, *further),
        possible=rest.possible,
        questions=rest.questions or ask_between((sure,)),
        judgements=(*sure.explained, *rest.judgements),
        unexplained=rest.unexplained,
    )


def _look_further(judgement: Judgement) -> Judgement:
    """Walk a connection that was asked about, and works, under every answer to what is unknown."""
    if (
        judgement.fit != Fit.OPEN
        or judgement.world is None
        or judgement.branch is None
        or not judgement.symptom.asked
    ):
        return judgement
    return judgement._replace(
        conversation=judgement.world.fork(judgement.symptom.probe, judgement.branch)
    )


def _choose_sure(explanations: Sequence[Explanation]) -> Explanation | None:
    """Return the best explanation where it is sure, else the best one in which nothing is a
    guess.
    """
    if is_certain(explanations[0], explanations):
        return explanations[0]
    return next(
        (
            other
            for other in explanations
            if other.is_stated and not other.broken and not other.unlike
        ),
        None,
    )


def _weigh_possibilities(
    explanations: Sequence[Explanation], symptoms: Sequence[Symptom], flows: Sequence[Probe]
) -> Conclusion:
    best = explanations[0]
    shown = [other for other in explanations if other.broken <= best.broken][:POSSIBILITIES]
    firsts: list[Finding] = []
    counts: list[int] = []
    for explanation in shown:
        found = list(make_findings(explanation, symptoms, flows, sure=False))[:1]
        firsts += found
        counts += [len(explanation.explained)] * len(found)
    explained = {id(judgement.symptom) for other in shown for judgement in other.explained}
    return Conclusion(
        possible=weigh(firsts, counts),
        questions=ask_between(shown),
        judgements=best.judgements,
        unexplained=tuple(
            symptom
            for symptom in symptoms
            if symptom.fails is True and id(symptom) not in explained
        ),
    )
