"""Findings made of causes: the claim, its evidence and reasons, what it breaks, and the repair that
was proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.between import pod_range, pod_ranges_overlap, pod_route
from podpath.checks.cause import Cause, Claim, PacketStory
from podpath.checks.cni import cni_chain
from podpath.checks.conntrack import conntrack_full
from podpath.checks.finding import WEIGHTY, Finding, Repair, Severity
from podpath.checks.links import (
    arp_off,
    duplicate_address,
    enslaved_route,
    foreign_arp,
    neighbour_failed,
    veth_without_bridge,
)
from podpath.checks.netfilter import dropped_by_rule
from podpath.checks.registry import MESSAGES
from podpath.checks.routing import no_route, router_advertisements_ignored, shadowed_range
from podpath.checks.services import (
    endpoint_not_local,
    endpoint_not_ready,
    no_endpoints,
    no_local_endpoints,
    proxy_behind,
    service_rejected,
)
from podpath.datapath.tracing.trace import Step
from podpath.diagnosis.causes import find_rule, marks_of, spans_of
from podpath.diagnosis.difference.chains import ChainDifference, compare_chains
from podpath.diagnosis.explanations import Explanation
from podpath.diagnosis.narrative import telling_steps
from podpath.diagnosis.proof import Prover
from podpath.diagnosis.repairs import PREVENTIONS, list_repairs
from podpath.diagnosis.repairs_rules import move_to
from podpath.diagnosis.resting import find_guesses
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.without_guesses import describe_cure
from podpath.diagnosis.worlds import Judgement, Supposition
from podpath.net.probe import Probe
from podpath.net.provenance import Span, list_spans
from podpath.node.change import DeleteRule, InsertRule
from podpath.node.netfilter import Chain, Rule
from podpath.node.node import Node

QUOTED_SYMPTOMS = 3
"""Lines of a symptom that are quoted: more say the same again."""


SOMETHING_ELSE = 1.25
"""Possibilities are never all: a fifth is left for what nobody thought of."""
_LINES = frozenset(check.name for check in MESSAGES)
"""Checks to which a line of a log is enough."""


def make_findings(
    explanation: Explanation,
    symptoms: Sequence[Symptom],
    flows: Sequence[Probe],
    *,
    sure: bool = True,
) -> Iterator[Finding]:
    """Yield a finding for each cause of an explanation, repaired and proven in the explanation's
    own world.
    """
    for cause, judged in explanation.blames:
        yield _make(
            explanation,
            cause,
            judged,
            Prover(explanation.world, judged[0], cause, symptoms, flows),
            sure=sure,
        )


def _make(
    explanation: Explanation,
    cause: Cause,
    judged: Sequence[Judgement],
    prover: Prover,
    *,
    sure: bool,
) -> Finding:
    suppositions = explanation.world.suppositions
    supposed = {item.fact for item in suppositions}
    further = (item for item in _stated(judged[0]) if item.fact not in supposed)
    stated = (*suppositions, *further)
    differences = tuple(_differences(judged[0], suppositions))
    rests_on = () if sure else find_guesses(explanation.world.node, judged[0].symptom.probe, cause)
    unsure = bool(rests_on) or (not sure and any(map(_turns_on_unshown_rules, judged)))
    repairs = prover.prove(_list_candidates(prover.node, cause, differences))
    moved = tuple(_moved(repairs))
    evidence = _evidence(cause, judged, stated, differences)
    spans = (*evidence[:1], *list_spans(moved), *evidence[1:])
    return Finding(
        check=cause.check,
        severity=Severity.CAUSE,
        claim=Claim(cause=cause, too_late=moved),
        evidence=tuple(dict.fromkeys(spans)),
        reasoning=(*_stories(cause), *_supposed(stated), *_where_it_works(differences)),
        breaks=tuple(dict.fromkeys(judgement.symptom.words for judgement in judged)),
        repairs=tuple(_offer(repair, sure=sure, unsure=unsure) for repair in repairs),
        rests_on=rests_on,
        prevention=PREVENTIONS.get(cause.check, ""),
        marks=marks_of(cause),
        shown_by=cause.branch,
    )


def _offer(repair: Repair, *, sure: bool, unsure: bool) -> Repair:
    """Return a repair, as a description alone where its cause or itself is a guess."""
    guessed = unsure or (not sure and _is_guessed(repair))
    return describe_cure(repair) if guessed else repair


def _list_candidates(
    node: Node, cause: Cause, differences: Sequence[ChainDifference]
) -> Iterator[Repair]:
    """Yield what may repair a cause: first the chain as it is where it works."""
    place = None if cause.place is None else find_rule(node, cause.step)
    settled = replace(cause, place=place)
    yield from _by_difference(node, settled, differences)
    yield from list_repairs(node, settled)


def _is_guessed(repair: Repair) -> bool:
    """Tell whether the walk that cures passes a guess: what it changes is not shown to help."""
    return bool(repair.changes) and not repair.proven


def _turns_on_unshown_rules(judgement: Judgement) -> bool:
    """Tell whether rules that the evidence does not show may let the packet pass."""
    return any(turn.made.unshown_rules for turn in judgement.guesses)


def _moved(repairs: Sequence[Repair]) -> Iterator[Rule]:
    """Yield the rule that a proven repair moves up: it would have accepted the packet, but stands
    too late.
    """
    for repair in repairs:
        deleted = [change.rule for change in repair.changes if isinstance(change, DeleteRule)]
        inserted = any(isinstance(change, InsertRule) for change in repair.changes)
        if inserted:
            yield from deleted


def _stories(cause: Cause) -> Iterator[PacketStory]:
    """Yield each packet up to the failing one."""
    for trace in cause.branch.traces:
        yield PacketStory(cause=cause, trace=trace)
        if trace is cause.trace:
            break


def _evidence(
    cause: Cause,
    judged: Sequence[Judgement],
    suppositions: Sequence[Supposition],
    differences: Sequence[ChainDifference],
) -> tuple[Span, ...]:
    """Return the deciding lines, then those of what is supposed, of what differs where it works,
    and of the symptoms.
    """
    stated = [
        span for item in suppositions for span in (item.span, item.contradicts) if span is not None
    ]
    telling = list(spans_of(cause, _telling(cause)))
    spans = [*telling, *stated] if cause.step.spans else [*stated, *telling]
    for difference in differences:
        spans += [
            difference.rule.span,
            *((difference.other.span,) if difference.other is not None else ()),
        ]
    for judgement in judged:
        spans += judgement.symptom.spans[:QUOTED_SYMPTOMS]
    return tuple(dict.fromkeys(spans))


def _telling(cause: Cause) -> Iterator[Step]:
    """Yield the steps that the reasoning tells, those of the failing packet first."""
    for trace in (cause.trace, *cause.branch.traces):
        yield from telling_steps(trace)


def _stated(judgement: Judgement) -> Iterator[Supposition]:
    """Yield what the explanation rests on and a line speaks for, though another line says
    otherwise, or says it of later.
    """
    for turn in judgement.turns:
        made, other = turn
        if made.span is not None:
            yield Supposition(
                made.fact,
                made.meaning,
                other.meaning,
                made.ask,
                made.span,
                other.span,
                made.value,
                other.value,
            )


def _differences(
    judgement: Judgement, suppositions: Sequence[Supposition]
) -> Iterator[ChainDifference]:
    """Yield how the chain that it fails with differs from the one that it works with, where the
    evidence shows both.
    """
    pairs = [(item.value, item.other) for item in suppositions]
    pairs += [(turn.made.value, turn.turned.value) for turn in judgement.turns]
    for bad, good in pairs:
        if isinstance(bad, Chain) and isinstance(good, Chain):
            yield from compare_chains(bad, good)


def _by_difference(
    node: Node, cause: Cause, differences: Sequence[ChainDifference]
) -> Iterator[Repair]:
    """Yield the repair that makes the chain as it is where it works."""
    if cause.place is None:
        return
    for difference in differences:
        other = difference.other
        if (
            difference.kind == "moved"
            and other is not None
            and other.position < difference.rule.position
        ):
            yield move_to(node, cause.place, difference.rule, other.position)


def _supposed(suppositions: Sequence[Supposition]) -> Iterator[str]:
    for item in suppositions:
        instead = (
            f", rather than {item.instead_of}"
            if item.instead_of and item.instead_of != item.meaning
            else ""
        )
        if isinstance(item.value, Chain) and item.contradicts is not None:
            yield f"With {item.fact} {item.meaning}, it fails as seen; {item.instead_of}, it works."
        elif item.contradicts is not None and item.contradicts != item.span:
            yield (
                f"So {item.fact} was {item.meaning} at the time; what {item.contradicts} shows "
                "cannot have been true then."
            )
        else:
            yield f"This rests on an assumption about {item.fact}: {item.meaning}{instead}."


def _where_it_works(differences: Sequence[ChainDifference]) -> Iterator[str]:
    moved = [difference.words for difference in differences if difference.kind == "moved"]
    others = [difference.words for difference in differences if difference.kind != "moved"]
    for words in (*moved, *others)[:2]:
        yield f"Where it works, one thing differs: {words}."


CHAINED = {
    foreign_arp.NAME: (foreign_arp.NAME, enslaved_route.NAME),
    cni_chain.NAME: (cni_chain.NAME,),
    conntrack_full.NAME: (conntrack_full.NAME,),
}
"""A walk's cause that a check explains better: the frame that went astray, and what taught its
sender the wrong way.
"""


def merge_checks(causes: Sequence[Finding], found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Join what walks and checks found, so that one fault is told once.

    Of a walk and a check with one name the walk's is kept, as it is of the connection that failed;
    where the check knows what came before, its finding takes the walk's place as the cause, and the
    walk's name is not told again.
    """
    rest = list(found)
    told = _blame_deeper(rest, _blame_duplicates(rest, _blame_chained(rest, causes)))
    told += [
        finding for finding in rest if finding.severity == Severity.CAUSE and finding not in told
    ]
    names = {finding.check for finding in (*told, *causes)}
    lesser = [
        finding
        for finding in rest
        if finding.severity != Severity.CAUSE
        and finding.check not in names
        and not _is_covered(told, finding)
        and not _is_told_better(rest, finding)
    ]
    order = {"fault": 0, "risk": 1, "note": 2}
    return (*told, *sorted(lesser, key=lambda finding: order[finding.severity]))


def _is_covered(told: Sequence[Finding], finding: Finding) -> bool:
    return any(_covers(one, finding) for one in told)


def _is_told_better(found: Sequence[Finding], finding: Finding) -> bool:
    return any(_tells_more(one, finding) for one in found)


def _tells_more(one: Finding, finding: Finding) -> bool:
    """Tell whether a certain check has more to say of another's lines, so that these are not told
    again: it joins a line of a log with a second fact, or says why something is so.
    """
    if one.certainty < 1 or one.severity not in WEIGHTY or one.check == finding.check:
        return False
    if finding.check in DEEPER.get(one.check, frozenset()):
        return any(_lies_within(span, one.evidence) for span in finding.evidence)
    joins = finding.check in _LINES and one.check not in _LINES
    return joins and all(_lies_within(span, one.evidence) for span in finding.evidence)


def _lies_within(span: Span, others: Sequence[Span]) -> bool:
    """Tell whether a line is one of some others' lines."""
    return any(
        span.source == other.source
        and other.line <= span.line
        and span.last_line <= other.last_line
        for other in others
    )


def _covers(told: Finding, finding: Finding) -> bool:
    """Tell whether what is told already holds a finding's line; a possible cause leaves beside it
    what something else that is stated may settle, or proves by itself.
    """
    own = told.certainty < 1 and (finding.settled_by or finding.proves)
    return not own and not set(told.evidence).isdisjoint(finding.evidence[:1])


def _blame_chained(found: list[Finding], causes: Sequence[Finding]) -> list[Finding]:
    """Let a check that knows what came before a walk's cause take its place."""
    told: list[Finding] = []
    for cause in causes:
        better = _find_first(found, CHAINED.get(cause.check, ()))
        if better is not None:
            found.remove(better)
        told.append(_take_over(better, cause) if better is not None else cause)
    return told


def _find_first(found: Sequence[Finding], names: Sequence[str]) -> Finding | None:
    """Return the first finding of the first of some checks that found something it states."""
    for name in names:
        for finding in found:
            if finding.check == name and not finding.rests_on:
                return finding
    return None


def _is_duplicate_of(finding: Finding, cause: Finding) -> bool:
    """Tell whether a finding is of an address that two pods have, and that a cause breaks."""
    if finding.check != duplicate_address.NAME or finding.rests_on:
        return False
    return any(f" {mark}" in item for mark in finding.marks for item in cause.breaks)


def _blame_duplicates(found: list[Finding], causes: Sequence[Finding]) -> list[Finding]:
    """Let an address that two pods have take the place of what ended a connection to it: it went to
    the other one.
    """
    told: list[Finding] = []
    for cause in causes:
        better = next((one for one in found if _is_duplicate_of(one, cause)), None)
        if better is not None:
            found.remove(better)
        told.append(_take_over(better, cause) if better is not None else cause)
    return told


_UNANSWERED = frozenset({neighbour_failed.NAME, no_route.NAME})
DEEPER = {
    arp_off.NAME: _UNANSWERED,
    shadowed_range.NAME: _UNANSWERED,
    veth_without_bridge.NAME: _UNANSWERED,
    endpoint_not_local.NAME: frozenset({no_local_endpoints.NAME}),
    endpoint_not_ready.NAME: frozenset({no_endpoints.NAME, dropped_by_rule.NAME}),
    pod_range.NAME: _UNANSWERED | {pod_route.NAME},
    pod_ranges_overlap.NAME: _UNANSWERED | {pod_route.NAME},
    router_advertisements_ignored.NAME: frozenset({no_route.NAME}),
    service_rejected.NAME: frozenset({no_endpoints.NAME}),
    proxy_behind.NAME: _UNANSWERED | {no_endpoints.NAME, dropped_by_rule.NAME},
}
"""Checks that say why nobody answers (the device, the route or the translation by which a packet
went where nobody is), or why a rule stands that refuses it; with the causes that they explain.
"""


def _blame_deeper(found: list[Finding], causes: Sequence[Finding]) -> list[Finding]:
    """Let a certain check that explains why nobody answered take the place of what ended the
    connection.
    """
    told: list[Finding] = []
    for cause in causes:
        explaining = sorted((one for one in found if _explains(one, cause)), key=_is_restated)
        better = explaining[0] if explaining else None
        if better is not None:
            found.remove(better)
        told.append(_take_over(better, cause) if better is not None else cause)
    return told


def _is_restated(finding: Finding) -> bool:
    """Tell whether a finding says no more than that kube-proxy knows of no endpoint: one that says
    why there is none goes first.
    """
    return finding.check == service_rejected.NAME


def _explains(one: Finding, cause: Finding) -> bool:
    """Tell whether a check's finding says why a cause is there: it is certain, or it is suspected
    of a rule that the packet did meet.
    """
    if cause.check not in DEEPER.get(one.check, frozenset()):
        return False
    traces = cause.shown_by.traces if cause.shown_by is not None else ()
    passed = {span for trace in traces for step in trace.steps for span in step.spans}
    met = one.evidence[0] in passed
    if one.certainty < 1:
        return met and _is_restated(one)
    return met or any(f" {mark}" in item for mark in one.marks for item in cause.breaks)


ROUTED_ANYWAY = frozenset({pod_range.NAME, pod_ranges_overlap.NAME})
"""Checks whose fault a route also brings around: the cure that was walked is kept."""


def _take_over(better: Finding, cause: Finding) -> Finding:
    """Let a check's finding stand for a walk's cause, with what the walk showed; one that is only
    suspected is as certain as the walk.
    """
    sure = better.certainty == 1 and better.severity in WEIGHTY
    return replace(
        better,
        severity=Severity.CAUSE,
        reasoning=(*better.reasoning, *cause.reasoning),
        evidence=tuple(dict.fromkeys((*better.evidence, *cause.evidence))),
        breaks=tuple(dict.fromkeys((*better.breaks, *cause.breaks))),
        repairs=cause.repairs if better.check in ROUTED_ANYWAY else better.repairs,
        certainty=1.0 if sure else cause.certainty,
        shown_by=cause.shown_by,
    )


def weigh(findings: Sequence[Finding], explained: Sequence[int]) -> tuple[Finding, ...]:
    """Give possibilities their share of certainty: by what each explains, then by order."""
    weights = [count * count * 0.7**place for place, count in enumerate(explained)]
    total = sum(weights) * SOMETHING_ELSE or 1.0
    return tuple(
        replace(finding, certainty=round(weight / total, 3))
        for finding, weight in zip(findings, weights, strict=True)
    )
