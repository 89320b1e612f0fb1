"""The order of findings: what cannot make the stated failure is no cause."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from podpath.checks.finding import WEIGHTY, Finding, Severity
from podpath.checks.registry import CHECKS, Check
from podpath.diagnosis.ranking import rank_findings
from podpath.net.addresses import Address
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.node.case import Case
from tests.checks.nodes import netns, node, span

STRICT = Finding(
    check="rp-filter",
    severity=Severity.FAULT,
    claim="rp_filter drops it.",
    evidence=(span("rp_filter = 1"),),
)
DEAF = Finding(
    check="no-listener",
    severity=Severity.FAULT,
    claim="Nobody listens.",
    evidence=(span("ss -tln"),),
)


def refused(*kinds: FailureKind) -> Case:
    """Make a case that complains of these failures."""
    complaints = tuple(
        Complaint(span=span("it fails"), works=False, failure=kind) for kind in kinds
    )
    return Case(node=node(netns("host")), complaints=complaints)


def test_certain_fact_that_cannot_explain_is_only_seen_as_well() -> None:
    """It comes last, is no fault of this failure, and says why."""
    first, last = rank_findings(refused(FailureKind.REFUSED), (STRICT, DEAF))

    assert ("no-listener", "fault") == (first.check, first.severity)
    assert ("rp-filter", "risk", 1) == (last.check, last.severity, len(last.reasoning))


def test_order_is_kept_where_nothing_rules_a_finding_out() -> None:
    """Without a stated failure, and where a failure fits both."""
    assert (STRICT, DEAF) == rank_findings(refused(), (STRICT, DEAF))
    assert (STRICT, DEAF) == rank_findings(
        refused(FailureKind.TIMEOUT, FailureKind.REFUSED), (STRICT, DEAF)
    )


def complaining(*kinds: FailureKind, address: str = "10.2.0.9") -> Case:
    """Make a case that complains of a connection to an address."""
    made = refused(*kinds or (FailureKind.TIMEOUT,))
    return replace(
        made,
        complaints=tuple(
            replace(one, addresses=(Address.parse(address),)) for one in made.complaints
        ),
    )


ROUTE = Finding(
    check="no-route",
    severity=Severity.FAULT,
    claim="No route.",
    evidence=(span("unreachable 10.2.0.0/24"),),
)
MESH = Finding(
    check="mesh-mtls", severity=Severity.FAULT, claim="Strict.", evidence=(span("mode: STRICT"),)
)
WIDE = Finding(
    check="mtu-above-uplink", severity=Severity.FAULT, claim="Too wide.", certainty=0.8,
    evidence=(span("eth0 mtu 1450 10.2.0.9"),),
    proves=frozenset({FailureKind.HANGS}),
)  # fmt: skip


def test_of_rivals_the_one_that_shares_an_end_stays_certain() -> None:
    """Two sorts of fault compete: the one about another connection is only possible, and comes
    last, with a question.
    """
    first, last = rank_findings(complaining(), (MESH, ROUTE))

    assert ("no-route", 1) == (first.check, first.certainty)
    assert "mesh-mtls" == last.check
    assert last.certainty < 1
    assert last.asks


def test_rivals_that_share_nothing_are_all_possible() -> None:
    """Nobody knows which of them it is."""
    assert all(
        finding.certainty < 1
        for finding in rank_findings(complaining(address="10.7.0.9"), (MESH, ROUTE))
    )


def test_without_named_ends_each_stays_what_it_is() -> None:
    """Nothing tells them apart."""
    assert (MESH, ROUTE) == rank_findings(refused(FailureKind.TIMEOUT), (MESH, ROUTE))


def test_a_fault_that_stands_alone_and_proves_what_is_stated_is_certain() -> None:
    """The lines hold, the failure is theirs and nothing else is found; not so with a rival, another
    failure or another end.
    """
    hanging = complaining(FailureKind.HANGS)

    assert [1] == [finding.certainty for finding in rank_findings(hanging, (WIDE,))]
    assert 0.8 == rank_findings(complaining(FailureKind.TIMEOUT), (WIDE,))[0].certainty
    assert (
        0.8
        == rank_findings(complaining(FailureKind.HANGS, address="10.7.0.9"), (WIDE,))[0].certainty
    )
    assert {0.5, 0.8} == {
        finding.certainty
        for finding in rank_findings(hanging, (WIDE, replace(MESH, certainty=0.5)))
    }


def test_what_is_supposed_is_no_rival() -> None:
    """A walk's cause that quotes nothing but the failure itself was not found in any output."""
    hanging = complaining(FailureKind.HANGS)
    supposed = replace(
        ROUTE, severity=Severity.CAUSE, certainty=0.3, evidence=(hanging.complaints[0].span,)
    )

    assert 1 in {finding.certainty for finding in rank_findings(hanging, (supposed, WIDE))}


def test_a_failure_that_nobody_describes_is_that_an_end_is_not_reached() -> None:
    """Where people say how it fails, that counts; where a sentence is about no connection,
    nothing does.
    """
    cut = replace(WIDE, proves=frozenset({FailureKind.UNREACHABLE}))
    plain = complaining(FailureKind.HANGS).complaints[0]
    unsaid = replace(plain, failure=None, source=EndKind.POD)
    vague = replace(unsaid, source=None, addresses=())
    rare = replace(unsaid, circumstances=frozenset({Circumstance.INTERMITTENT}))

    def judge(complaint: Complaint) -> float:
        case = replace(complaining(FailureKind.HANGS), complaints=(complaint,))
        return rank_findings(case, (cut,))[0].certainty

    assert 1 == judge(unsaid)
    assert 0.8 == judge(vague)
    assert 0.8 == judge(rare)
    assert 0.8 == judge(plain)


def test_a_consequence_comes_behind_its_cause() -> None:
    """A service has no endpoints, since no route leads to its pods."""
    empty = replace(ROUTE, check="no-endpoints")

    assert ["no-route", "no-endpoints"] == [
        finding.check for finding in rank_findings(complaining(), (empty, ROUTE))
    ]


def test_what_is_uncertain_has_a_question() -> None:
    """Its manual page says what confirms it."""
    (possible,) = rank_findings(complaining(), (replace(ROUTE, certainty=0.5),))

    assert possible.asks[0].command in next(
        check.confirm for check in CHECKS if check.name == "no-route"
    )


def test_every_page_has_a_command_that_confirms() -> None:
    """Without one nothing could be asked for."""
    assert [] == [check.name for check in CHECKS if not check.confirm]
    commands = [command for check in CHECKS for command in check.confirm]
    assert [] == [command for command in commands if command != command.strip()]


@given(st.lists(st.tuples(st.sampled_from(CHECKS), st.sampled_from([0.4, 0.7, 1.0])), max_size=6))
def test_no_possible_fault_stands_before_a_certain_one(drawn: list[tuple[Check, float]]) -> None:
    """Whatever follows from what: the cause that is named comes first."""
    findings = tuple(
        replace(ROUTE, check=check.name, certainty=certainty, severity=severity)
        for check, certainty in drawn
        for severity in (Severity.FAULT, Severity.CAUSE)
    )
    ranked = rank_findings(complaining(), findings)

    sure = [one.certainty == 1 for one in ranked if one.severity in WEIGHTY]
    assert sorted(sure, reverse=True) == sure
