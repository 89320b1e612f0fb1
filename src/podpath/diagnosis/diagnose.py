"""The diagnosis: symptoms collected, worlds walked, explanations ranked, repairs proven, checks run, one answer given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks import foreign_arp
from podpath.checks.finding import Finding
from podpath.checks.registry import run_checks
from podpath.diagnosis.check_proof import prove_check
from podpath.diagnosis.comparison import compare_with_good
from podpath.diagnosis.diagnosis import Diagnosis, Question
from podpath.diagnosis.explanations import Explanation, assess, explain, is_certain
from podpath.diagnosis.findings import CHAINED, make_findings, merge_checks, weigh
from podpath.diagnosis.flows import derive_flows
from podpath.diagnosis.questions import ask_between, ask_undecided
from podpath.diagnosis.symptoms import Symptom, collect_symptoms
from podpath.diagnosis.worlds import Judgement, World, judge
from podpath.net.probe import Probe
from podpath.node.case import Case

POSSIBILITIES = 6
"""How many possible causes are told: beyond that a list helps nobody."""
MADE_UP = ("veth-of-", "pod-router", "(")
"""How names begin that stand for devices of which no output shows the name."""
POLICIES = ("dropped-by-rule", "no-listener", "untracked", "no-route", "neighbour")
"""What may be meant so: it is a fault only where somebody says that the connection should work."""


def diagnose(case: Case, probes: tuple[Probe, ...] = (), good: Case | None = None) -> Diagnosis:
    """Say what is wrong with a node, by its evidence and by the connections that fail."""
    base = World(case.node)
    symptoms = tuple(_expect(base, symptom) for symptom in collect_symptoms(case, probes))
    flows = derive_flows(case.node)
    failing = [symptom for symptom in symptoms if symptom.fails is True]
    if not failing and not probes:
        symptoms = (*symptoms, *_broken_flows(base, flows))
        failing = [symptom for symptom in symptoms if symptom.fails is True]
    explanations = explain(case, symptoms) if failing else ()
    causes, possible, questions = _conclude(explanations, symptoms, flows)
    told = {finding.check for finding in causes} - {name for names in CHAINED.values() for name in names}
    findings = tuple(prove_check(case, finding, flows) for finding in merge_checks(causes, tuple(run_checks(case, told))))
    judgements = _final_judgements(base, explanations, symptoms)
    notes = tuple(_notes(failing, findings, explanations, judgements))
    if not possible and failing and not explanations:
        questions = ask_undecided(judgements)
    if good is not None:
        findings = tuple(compare_with_good(finding, case, good) for finding in findings)
    return Diagnosis(
        verdict=_verdict(findings, possible, failing, explanations),
        findings=findings,
        conversations=tuple({judgement.symptom.probe: judgement.conversation for judgement in judgements}.values()),
        questions=questions,
        contradictions=case.contradictions,
        gaps=case.gaps,
        notes=notes,
    )


def _expect(base: World, symptom: Symptom) -> Symptom:
    """Take a connection that the user names for a failing one where the walk says that it fails."""
    if symptom.fails is not None:
        return symptom
    judged = judge(base, symptom)
    if judged.branch is not None and judged.branch.works is False:
        return replace(symptom, fails=True, result="fails in simulation")
    return symptom


def _broken_flows(base: World, flows: Sequence[Probe]) -> Iterator[Symptom]:
    """Give those connections that any node should carry and that this one does not, by facts that are stated."""
    for probe in flows:
        symptom = Symptom(probe=probe, fails=True, result="fails in simulation")
        explanation = assess(base, (symptom,))
        named = [blame.cause.check for blame in explanation.blames]
        if explanation.explained and not explanation.guesses and named and not set(named) & set(POLICIES):
            yield symptom


def _conclude(
    explanations: Sequence[Explanation], symptoms: Sequence[Symptom], flows: Sequence[Probe]
) -> tuple[tuple[Finding, ...], bool, tuple[Question, ...]]:
    """Give the cause, or the possible ones with the questions that tell them apart."""
    if not explanations:
        return (), False, ()
    best = explanations[0]
    if is_certain(best, explanations):
        return tuple(make_findings(best, symptoms, flows)), False, ask_between((best,))
    shown = [explanation for explanation in explanations if explanation.broken <= best.broken][:POSSIBILITIES]
    firsts: list[Finding] = []
    for explanation in shown:
        firsts += list(make_findings(explanation, symptoms, flows))[:1]
    return weigh(firsts, [len(explanation.explained) for explanation in shown]), True, ask_between(shown)


def _final_judgements(base: World, explanations: Sequence[Explanation], symptoms: Sequence[Symptom]) -> tuple[Judgement, ...]:
    """Judge every symptom in the world that the diagnosis arrived at; in the stated one where it arrived at none."""
    return explanations[0].judgements if explanations else tuple(judge(base, symptom) for symptom in symptoms)


def _notes(
    failing: Sequence[Symptom], findings: Sequence[Finding], explanations: Sequence[Explanation], judgements: Sequence[Judgement]
) -> Iterator[str]:
    explained = {judgement.symptom.probe for judgement in (explanations[0].explained if explanations else ())}
    lost = {word for finding in findings if finding.check == foreign_arp.NAME for word in finding.marks}
    for symptom in failing:
        ends = {str(symptom.probe.src), str(symptom.probe.dst)}
        if symptom.probe not in explained and not ends & lost:
            yield f"Not explained: {symptom.words}. On what is known the walk does not fail there as the evidence says."
    for judgement in judgements:
        if judgement.fit == "contradicts" and judgement.symptom.fails is False:
            yield f"The evidence says that {judgement.symptom.probe} works, but the walk does not deliver it."
        if judgement.conversation.truncated:
            yield f"{judgement.symptom.probe} has more branches than were walked; the likeliest were."
    yield from _made_up_names(findings)


def _made_up_names(findings: Sequence[Finding]) -> Iterator[str]:
    """Say which devices that a finding speaks of are known by inference alone: their names are made up."""
    names: dict[str, None] = {}
    for finding in findings:
        for trace in finding.shown_by.traces if finding.shown_by is not None else ():
            for step in trace.steps:
                if step.link is not None and step.link.startswith(MADE_UP):
                    names[step.link] = None
    if names:
        yield f"{', '.join(names)}: no output shows what such a device is called; the name stands for it."


def _verdict(findings: Sequence[Finding], possible: bool, failing: Sequence[Symptom], explanations: Sequence[Explanation]) -> str:  # noqa: FBT001
    """Say `fault` for a cause or fault that is sure, `possible` where a failure has no sure cause, else `none`."""
    sure = [finding for finding in findings if finding.severity in ("cause", "fault") and finding.certainty == 1.0]
    if sure and not possible:
        return "fault"
    if possible or (failing and not explanations):
        return "fault" if any(finding.severity == "cause" for finding in sure) else "possible"
    return "none"
