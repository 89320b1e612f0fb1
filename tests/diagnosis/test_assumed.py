"""Possible causes that quote only the failure."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.finding import Finding, Severity
from podpath.diagnosis.assumed import is_assumed
from podpath.net.complaints import Complaint
from podpath.net.provenance import Source, Span
from tests.checks.pasted import case_of

SOURCE = Source(name="ticket.md", lines=("It does not answer.", "-P FORWARD DROP"))
SAID, STATED = Span(SOURCE, 1, 1), Span(SOURCE, 2, 2)
CASE = replace(case_of("$ true"), complaints=(Complaint(span=SAID, works=False),))


def _cause(*evidence: Span, certainty: float = 0.4) -> Finding:
    return Finding(
        check="forward-policy",
        severity=Severity.CAUSE,
        claim="A policy drops it.",
        evidence=evidence,
        certainty=certainty,
    )


def test_the_failure_alone_states_no_cause() -> None:
    """A line that states something, or a certain cause, is another matter."""
    assert is_assumed(CASE, _cause(SAID))
    assert not is_assumed(CASE, _cause(SAID, STATED))
    assert not is_assumed(CASE, _cause(SAID, certainty=1.0))
