"""What is told first, and once, of what walks and checks found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from podpath.checks.finding import Finding, Severity
from podpath.datapath.tracing.trace import Trace
from podpath.diagnosis.difference.chains import ChainDifference
from podpath.diagnosis.findings import _by_difference, _stories, merge_checks
from tests.diagnosis.test_repairs import DROP, cause_of, node


def found(check: str, severity: Severity) -> Finding:
    """Return a finding."""
    return Finding(check=check, severity=severity, claim=check, evidence=())


def test_causes_come_before_faults_and_these_before_notes() -> None:
    """In whatever order checks found them, and each once."""
    note, fault = found("a-note", Severity.NOTE), found("a-fault", Severity.FAULT)
    cause = found("a-cause", Severity.CAUSE)

    assert (cause, fault, note) == merge_checks((), (note, fault, cause))


def test_a_packets_story_ends_with_the_one_that_fails() -> None:
    """What was sent before it is told, and nothing after."""
    cause = cause_of(node(DROP))
    later = replace(cause.trace, name="SYN-ACK")

    def told(*traces: Trace) -> list[str]:
        shown = replace(cause, branch=replace(cause.branch, traces=traces))
        return [story.trace.name for story in _stories(shown)]

    assert ["SYN"] == told(cause.trace, later)
    assert ["SYN-ACK", "SYN"] == told(later, cause.trace)


def test_a_rule_is_moved_only_to_where_it_stands_earlier() -> None:
    """One that stands later where it works is no cure, and one that is missing did not move."""
    made = node("FORWARD -j LOG", DROP)
    cause = cause_of(made)
    assert cause.place is not None
    first, last = cause.place.chain.rules
    earlier, later = (
        ChainDifference("moved", rule, other) for rule, other in ((last, first), (first, last))
    )
    missing = ChainDifference("missing", last, None)

    assert 1 == len(list(_by_difference(made, cause, (missing, later, earlier))))


def test_a_rule_that_a_packet_met_is_sure_to_refuse_it() -> None:
    """Of a service without endpoints a rule that has counted nothing yet is only suspected; that it
    ends the walked packet settles it.
    """
    branch = cause_of(node(DROP)).branch
    (rule,) = branch.last.deciding.spans[:1]
    walked = replace(found("no-endpoints", Severity.CAUSE), evidence=(rule,), shown_by=branch)
    suspected = replace(found("service-rejected", Severity.FAULT), evidence=(rule,), certainty=0.6)
    elsewhere = replace(suspected, evidence=(rule._replace(line=rule.line + 1),))

    assert [("service-rejected", 1.0)] == names(merge_checks((walked,), (suspected,)))
    possible = replace(walked, certainty=0.5)
    assert [("service-rejected", 0.5)] == names(merge_checks((possible,), (suspected,)))
    beside = replace(found("no-endpoints", Severity.FAULT), evidence=elsewhere.evidence)
    assert [("service-rejected", 0.5)] == names(merge_checks((possible,), (suspected, beside)))
    assert ("no-endpoints", 1.0) in names(merge_checks((walked,), (elsewhere,)))


def names(told: Iterable[Finding]) -> list[tuple[str, float]]:
    """Return what was found, and how certain it is."""
    return [(finding.check, finding.certainty) for finding in told]
