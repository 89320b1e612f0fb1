"""What logs say came before a fault, joined with the fault."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.finding import Finding, Severity
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.history import tell_history
from podpath.diagnosis.verdict import Verdict
from podpath.report.claims import spell_claim
from podpath.timeline.build import ToldFailure
from podpath.timeline.chronicle import Chronicle
from tests.timeline.samples import CLIENT, MESSAGES, at, chronicle

FOUND = chronicle(MESSAGES, CLIENT)
CONNTRACK = (
    "Mar 12 03:13:5{0} kn-04 kernel: nf_conntrack: table full, dropping packet\n"
    "Mar 12 03:20:5{0} kn-04 a: b"
)


def finding(check: str, severity: Severity = Severity.CAUSE, certainty: float = 1.0) -> Finding:
    """Make a finding of a name."""
    return Finding(
        check=check, severity=severity, claim=f"It is {check}.", evidence=(), certainty=certainty
    )


def join(
    *findings: Finding, told: Chronicle = FOUND, verdict: Verdict = Verdict.FAULT
) -> Diagnosis:
    """Join a diagnosis with logs."""
    return tell_history(Diagnosis(verdict=verdict, findings=findings), told)


def test_the_fact_meets_its_history() -> None:
    """A fault that a chain leads to is told with what set it, its lines, and how long before the
    first failing request.
    """
    (joined,) = join(finding("rp-filter")).findings

    assert joined.claim == (
        "It is rp-filter. What set it: tuned started, 2.8 s before the first failing request began."
    )
    assert joined.history[0] == "03:13:38: polkit is upgraded (log-0:3)."
    assert joined.history[-2].startswith(
        "03:13:49: the first failing request began, 10 s before it was seen to fail; 2.8 s later."
    )
    assert [3, 6, 8, 2, 1] == [span.line for span in joined.evidence]
    assert "reapply_sysctl" in joined.prevention
    assert "tuned" in joined.marks


def test_another_fault_has_no_history() -> None:
    """A fault that no chain leads to stays as it is, the suspect is a note; where nothing is sure
    its fact is asked for.
    """
    joined, sure = (
        join(finding("hairpin", certainty=0.5), verdict=Verdict.POSSIBLE),
        join(finding("hairpin")),
    )

    assert (finding("hairpin"),) == sure.findings
    assert "tuned started, 2.8 s before" in sure.notes[0]
    assert ["sysctl net.ipv4.conf.all.rp_filter"] == [question.ask for question in joined.questions]
    assert () == sure.questions
    known = finding("rp-filter", certainty=0.5)
    assert () == join(known, verdict=Verdict.POSSIBLE).questions
    story = replace(FOUND.stories[0], score=0.1)
    unsure = replace(FOUND, stories=(story,))
    assert (
        ()
        == join(finding("hairpin", certainty=0.5), told=unsure, verdict=Verdict.POSSIBLE).questions
    )


def test_the_likelier_of_two_possibilities() -> None:
    """Of causes that are both possible the one that the logs lead to comes first, and shares stay
    shares.
    """
    joined = join(
        finding("hairpin", certainty=0.5),
        finding("rp-filter", certainty=0.3),
        verdict=Verdict.POSSIBLE,
    )

    assert ["rp-filter", "hairpin"] == [one.check for one in joined.findings]
    assert 0.8 == round(sum(one.certainty for one in joined.findings), 2)
    assert "possible" == joined.verdict
    assert spell_claim(joined.findings[0].claim).startswith(
        "It is rp-filter. What may have set it: tuned started"
    )


def test_the_kernel_says_it_itself() -> None:
    """A full connection tracking table that the kernel logs while connections fail is a fault
    without any other evidence.
    """
    told = chronicle(
        CONNTRACK.format(0),
        told=ToldFailure(failed_at=at("03:13:59"), timeout=10, last_ok=at("03:13:39")),
    )
    joined = join(told=told, verdict=Verdict.POSSIBLE)

    assert ("fault", "conntrack-full", 1) == (
        joined.verdict,
        joined.findings[0].check,
        joined.findings[0].evidence[0].line,
    )
    assert 1 == len(join(finding("conntrack-full", Severity.FAULT), told=told).findings)


def test_without_a_window_it_says_so() -> None:
    """Chains are told without how long before, where no log says when it failed."""
    joined = join(finding("rp-filter"), told=chronicle(MESSAGES))

    assert "It is rp-filter." == joined.findings[0].claim
    assert "--failed-at" in joined.notes[0]


def test_notes_and_risks_have_no_history() -> None:
    """A risk is no fault that something led to."""
    assert () == join(finding("rp-filter", Severity.RISK)).findings[0].history


def test_gaps_of_logs_are_told() -> None:
    """Lines of logs that could not be read stand among the gaps, once."""
    told = chronicle(MESSAGES + "no stamp here\n", CLIENT)
    joined = join(told=replace(told, stories=()))

    assert ["no stamp here"] == [gap.span.text for gap in joined.gaps]
    assert joined.gaps == tell_history(joined, told).gaps
