"""The order of findings: what cannot make the stated failure is no cause."""

from __future__ import annotations

from podpath.checks.finding import Finding
from podpath.diagnosis.ranking import rank_findings
from podpath.net.complaints import Complaint
from podpath.net.failures import FailureKind
from podpath.node.case import Case
from tests.checks.nodes import netns, node, span

STRICT = Finding(check="rp-filter", severity="fault", claim="rp_filter drops it.", evidence=(span("rp_filter = 1"),))
DEAF = Finding(check="no-listener", severity="fault", claim="Nobody listens.", evidence=(span("ss -tln"),))


def refused(*kinds: FailureKind) -> Case:
    """Make a case that complains of these failures."""
    complaints = tuple(Complaint(span=span("it fails"), works=False, failure=kind) for kind in kinds)
    return Case(node=node(netns("host")), complaints=complaints)


def test_certain_fact_that_cannot_explain_is_only_seen_as_well() -> None:
    """It comes last, is no fault of this failure, and says why."""
    first, last = rank_findings(refused(FailureKind.REFUSED), (STRICT, DEAF))

    assert ("no-listener", "fault") == (first.check, first.severity)
    assert ("rp-filter", "risk", 1) == (last.check, last.severity, len(last.reasoning))


def test_order_is_kept_where_nothing_rules_a_finding_out() -> None:
    """Without a stated failure, and where a failure fits both."""
    assert (STRICT, DEAF) == rank_findings(refused(), (STRICT, DEAF))
    assert (STRICT, DEAF) == rank_findings(refused(FailureKind.TIMEOUT, FailureKind.REFUSED), (STRICT, DEAF))
