"""What the logs say came before a fault, joined with the fault: which restart set the sysctl back,
and when.

A chain of causes that is known to leave a fact behind, found in the logs, and that fact found on
the node: together they are more than either. Where the node's own evidence leaves several causes
possible, the one that a chain leads to is the likelier one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.cause import Claim
from podpath.checks.finding import WEIGHTY, Finding, Severity
from podpath.diagnosis.diagnosis import Diagnosis, Question
from podpath.diagnosis.verdict import Verdict
from podpath.net.provenance import Span
from podpath.timeline.chain import Lead
from podpath.timeline.chronicle import SURE, Chronicle
from podpath.timeline.clock import to_wall
from podpath.timeline.durations import render_duration, tell_before
from podpath.timeline.stories import Story

LIKELIER = 2.0
"""How much likelier a possible cause is that a chain of causes in the logs leads to."""
FACTS = ("conntrack", "neighbour")
"""Kinds of lines by which the kernel itself says that it drops packets: they are a finding without
any other evidence.
"""


def tell_history(diagnosis: Diagnosis, chronicle: Chronicle) -> Diagnosis:
    """Join a diagnosis with what the logs say."""
    findings = tuple(_join(finding, chronicle) for finding in diagnosis.findings)
    told = {finding.check for finding in findings}
    observed = tuple(_observed(chronicle, told))
    findings = _reweigh((*observed, *findings))
    sure = any(finding.severity in WEIGHTY and finding.certainty == 1 for finding in observed)
    return replace(
        diagnosis,
        verdict=Verdict.FAULT if sure else diagnosis.verdict,
        forbids=() if sure else diagnosis.forbids,
        findings=findings,
        questions=(
            *diagnosis.questions,
            *(_questions(chronicle, findings) if diagnosis.verdict is Verdict.POSSIBLE else ()),
        ),
        notes=(*diagnosis.notes, *_notes(chronicle, findings)),
        gaps=(*diagnosis.gaps, *(gap for gap in chronicle.gaps if gap not in diagnosis.gaps)),
    )


def _join(finding: Finding, chronicle: Chronicle) -> Finding:
    found = next(_leading(chronicle.stories, finding.check), None)
    if found is None or finding.severity not in {"cause", "fault"}:
        return finding
    story, lead = found
    claim = finding.claim
    if story.before is not None:
        known = "What set it" if finding.certainty == 1 else "What may have set it"
        remark = f"{known}: {story.strike.mark.words}, {tell_before(story.before)}."
        claim = claim.with_remark(remark) if isinstance(claim, Claim) else f"{claim} {remark}"
    return replace(
        finding,
        claim=claim,
        history=tuple(_sentences(story, lead, chronicle)),
        evidence=tuple(dict.fromkeys((*finding.evidence, *_spans(story, chronicle)))),
        prevention=" ".join(
            dict.fromkeys(text for text in (finding.prevention, story.chain.prevention) if text)
        ),
        marks=(
            *finding.marks,
            *(one.marked.mark.subject for one in story.told if one.marked.mark.subject),
        ),
    )


def _leading(stories: Sequence[Story], check: str) -> Iterator[tuple[Story, Lead]]:
    """Yield the chains that lead to a fault, the likeliest first."""
    for story in stories:
        for lead in story.chain.leads:
            if lead.check == check:
                yield story, lead


def _sentences(story: Story, lead: Lead, chronicle: Chronicle) -> Iterator[str]:
    window = chronicle.window
    for link, marked in story.told:
        wall = to_wall(round(marked.event.time, 3), chronicle.zone)
        yield f"{wall:%H:%M:%S}: {link.says} ({marked.event.span})."
    if window is not None and story.before is not None:
        began = to_wall(round(window.began, 3), chronicle.zone)
        why = (
            f", {render_duration(window.timeout)} before it was seen to fail"
            if window.timeout is not None
            else ""
        )
        yield (
            f"{began:%H:%M:%S}: the first failing request began{why}; "
            f"{render_duration(max(story.before, 0.0))} later."
        )
    yield f"This is known to lead to: {lead.says} ({story.chain.sources[0]})."


def _spans(story: Story, chronicle: Chronicle) -> Iterator[Span]:
    yield from (one.marked.event.span for one in story.told)
    if chronicle.window is not None:
        yield from (
            span
            for span in (chronicle.window.failed_by, chronicle.window.ok_by)
            if span is not None
        )


def _observed(chronicle: Chronicle, told: set[str]) -> Iterator[Finding]:
    """Yield what the kernel itself says in the logs, where nothing else shows it."""
    for story in chronicle.stories:
        lead = story.chain.leads[0]
        if (
            story.chain.observes
            and story.strike.mark.kind in FACTS
            and lead.check not in told
            and story.before is not None
        ):
            event = story.strike.event
            yield Finding(
                check=lead.check,
                severity=Severity.FAULT,
                claim=f"{story.chain.title}.",
                evidence=(event.span,),
                reasoning=(f"The kernel says so while connections fail ({event.span}).",),
                prevention=story.chain.prevention,
                marks=("table full", "overflow"),
            )


def _reweigh(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Let possible causes that a chain leads to come before the others, and share the same
    certainty anew.
    """
    open_ones = [
        finding
        for finding in findings
        if finding.severity == Severity.CAUSE and finding.certainty < 1
    ]
    if not any(finding.history for finding in open_ones):
        return tuple(findings)
    weights = [_weight(finding) for finding in open_ones]
    share = sum(finding.certainty for finding in open_ones) / sum(weights)
    shared = [
        replace(finding, certainty=round(weight * share, 3))
        for finding, weight in zip(open_ones, weights, strict=True)
    ]
    order = iter(sorted(shared, key=lambda finding: -finding.certainty))
    places = {id(finding) for finding in open_ones}
    return tuple(next(order) if id(finding) in places else finding for finding in findings)


def _weight(finding: Finding) -> float:
    """Return how likely a possible cause is, by what a chain of causes adds."""
    return finding.certainty * (LIKELIER if finding.history else 1.0)


def _questions(chronicle: Chronicle, findings: Sequence[Finding]) -> Iterator[Question]:
    """Ask for the fact that a chain leads to, where no finding speaks of it."""
    known = {finding.check for finding in findings}
    for story in chronicle.stories[:1]:
        if story.score >= SURE and not known & {lead.check for lead in story.chain.leads}:
            lead = story.chain.leads[0]
            decides = (f"{lead.says}: {story.chain.title}",)
            yield Question(
                fact=f"whether {lead.says}, as the logs suggest ({story.strike.event.span})",
                ask=lead.ask,
                decides=decides,
            )


def _notes(chronicle: Chronicle, findings: Sequence[Finding]) -> Iterator[str]:
    if any(finding.history for finding in findings):
        if chronicle.window is None:
            yield (
                "No log shows when the first request failed; give it with --failed-at and "
                "--timeout to place it among the events."
            )
        return
    for suspect in chronicle.suspects[:1]:
        if suspect.score >= SURE:
            yield (
                f"In the logs: {suspect.mark.words}, {tell_before(suspect.before)} "
                f"({suspect.event.span}); `podpath timeline` on the same evidence shows the rest."
            )
