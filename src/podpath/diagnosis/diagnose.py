"""The diagnosis: symptoms collected, worlds walked, explanations ranked, repairs proven, checks run, one answer given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks import foreign_arp
from podpath.checks.finding import Finding
from podpath.checks.looks import look_at_captures
from podpath.checks.registry import run_checks
from podpath.diagnosis.captured import add_captured
from podpath.diagnosis.check_proof import prove_check
from podpath.diagnosis.comparison import compare_with_good
from podpath.diagnosis.conclusion import Conclusion, conclude
from podpath.diagnosis.counters import add_counters
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.difference.nodes import compare_nodes
from podpath.diagnosis.explanations import assess
from podpath.diagnosis.findings import CHAINED, merge_checks
from podpath.diagnosis.flows import derive_flows
from podpath.diagnosis.meeting import add_observations, find_partings
from podpath.diagnosis.questions import ask_for_ends
from podpath.diagnosis.symptoms import Symptom, collect_symptoms
from podpath.diagnosis.worlds import World, judge
from podpath.net.probe import Probe
from podpath.node.case import Case, Unplaced
from podpath.node.node import HOST

MADE_UP = ("veth-of-", "lxc-of-", "cali-of-", "pod-router", "(")
"""How names begin that stand for devices of which no output shows the name."""
POLICIES = ("dropped-by-rule", "no-listener", "untracked", "no-route", "neighbour-failed", "hairpin")
"""What may be meant so: it is a fault only where somebody says that the connection should work."""


def diagnose(case: Case, probes: tuple[Probe, ...] = (), good: Case | None = None) -> Diagnosis:
    """Say what is wrong with a node, by its evidence and by the connections that fail."""
    base = World(case.node)
    symptoms = tuple(_expect(base, symptom) for symptom in collect_symptoms(case, probes))
    flows = derive_flows(case.node)
    if not probes and not any(symptom.fails for symptom in symptoms):
        symptoms = (*symptoms, *_broken_flows(base, flows))
    concluded = conclude(case, symptoms, flows)
    told = {finding.check for finding in concluded.causes} - {name for names in CHAINED.values() for name in names}
    findings = merge_checks((*concluded.causes, *concluded.possible), tuple(run_checks(case, told)))
    findings = tuple(prove_check(case, finding, flows) for finding in findings)
    findings = add_captured(add_observations(findings, concluded.judgements), look_at_captures(case), concluded)
    findings = add_counters(findings, case.node)
    if good is not None:
        differences = compare_nodes(case.node, good.node)
        findings = tuple(compare_with_good(finding, good.node, differences) for finding in findings)
    judgements = concluded.judgements
    unplaced = () if probes else case.unplaced
    verdict = _verdict(findings, concluded, unplaced)
    return Diagnosis(
        verdict=verdict,
        findings=tuple(sorted(findings, key=_is_unsure)),
        conversations=tuple({judgement.symptom.probe: judgement.conversation for judgement in judgements}.values()),
        questions=concluded.questions if verdict == "fault" else (*concluded.questions, *ask_for_ends(unplaced)),
        contradictions=case.contradictions,
        gaps=case.gaps,
        notes=(*_notes(findings, concluded), *_unplaced_notes(unplaced)),
        partings=tuple(find_partings(judgements)),
    )


def _is_unsure(finding: Finding) -> bool:
    """Order what is sure before what may be, and keep the order otherwise."""
    return finding.severity == "cause" and finding.certainty < 1


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
        causes = [blame.cause for blame in explanation.blames]
        ours = all(cause.step.netns == HOST and cause.check not in POLICIES for cause in causes)
        if explanation.explained and not explanation.guesses and causes and ours:
            yield symptom


def _notes(findings: Sequence[Finding], concluded: Conclusion) -> Iterator[str]:
    lost = {word for finding in findings if finding.check == foreign_arp.NAME for word in finding.marks}
    for symptom in concluded.unexplained:
        if not {str(symptom.probe.src), str(symptom.probe.dst)} & lost:
            yield f"Not explained: {symptom.words}. On what is known the walk does not fail there as the evidence says."
    for judgement in concluded.judgements:
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


def _unplaced_notes(unplaced: Sequence[Unplaced]) -> Iterator[str]:
    for failure in unplaced:
        what = " to ".join(word for word in (failure.who or "a connection", failure.target) if word)
        hint = f"; --probe '{failure.target.replace(' ', ' ADDRESS > ', 1)}' asks about it" if failure.target else ""
        yield f"Not walked: {what} ({failure.result}) at {failure.span}: no output shows {failure.missing}{hint}."


def _verdict(findings: Sequence[Finding], concluded: Conclusion, unplaced: Sequence[Unplaced]) -> str:
    """Say `fault` for a cause or fault that is sure, `possible` where a failure has no sure cause, else `none`."""
    if any(finding.severity in ("cause", "fault") and finding.certainty == 1 for finding in findings):
        return "fault"
    denied = any(judgement.fit == "contradicts" for judgement in concluded.judgements)
    return "possible" if concluded.possible or concluded.unexplained or unplaced or denied else "none"
