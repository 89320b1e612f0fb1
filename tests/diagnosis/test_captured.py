"""What captures show beside the walks: told once, and never twice."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.finding import Finding, Severity
from podpath.datapath.tracing.trace import Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.captured import add_captured, check_captures
from podpath.diagnosis.conclusion import Conclusion
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import Judgement
from podpath.net.probe import Probe
from podpath.net.provenance import Source, Span
from tests.checks.made_captures import (
    CLIENT,
    SERVER,
    arp,
    case_of,
    exchange,
    framed,
    handshake,
    tcp,
)

HOST, ROUTER, STRANGER = "02:00:00:00:00:01", "02:00:00:00:00:03", "02:00:00:00:00:99"


def test_foreign_arp_tells_of_the_frames_that_it_leads_astray() -> None:
    """Where the ARP frame that taught the wrong MAC is seen, it alone is told."""
    lines = (
        framed(0, f"{HOST} > {ROUTER}", "10.7.0.5.5000 > 10.7.0.9.53"),
        framed(0.1, f"{ROUTER} > {HOST}", "10.7.0.9.53 > 10.7.0.5.5000"),
        arp(1, f"{STRANGER} > ff:ff:ff:ff:ff:ff", "Request who-has 169.254.1.1 tell 10.7.0.5"),
        framed(2, f"{ROUTER} > {STRANGER}", "10.7.0.9.53 > 10.7.0.5.5000"),
        framed(3, f"{HOST} > {ROUTER}", "10.7.0.5.5000 > 10.7.0.9.53"),
    )
    found = check_captures(case_of(*lines, command="tcpdump -enn -i eth0"))

    assert ["foreign-arp"] == [finding.check for finding in found]


def test_fault_of_a_capture_decides_the_diagnosis() -> None:
    """A capture alone, with an ACK that its server never got, is a fault found."""
    lines = (*handshake(), tcp(1.04, f"{SERVER} > {CLIENT}", "S.", 77_000, 1001))
    answer = diagnose(case_of(*lines))

    assert "fault" == answer.verdict
    assert "lost-ack" in [finding.check for finding in answer.findings]


def test_symptom_without_a_cause_is_a_note_beside_the_possibilities() -> None:
    """A SYN that nobody answers leaves the cause open."""
    answer = diagnose(
        case_of(*(tcp(after, f"{CLIENT} > {SERVER}", "S", 1000) for after in (0.0, 1.0, 3.0)))
    )

    assert "possible" == answer.verdict
    assert ["note"] == [
        finding.severity for finding in answer.findings if finding.check == "handshake-repeated"
    ]


def test_capture_of_what_works_changes_nothing() -> None:
    """Connections that work are no findings; of the node a capture shows too little to clear it."""
    answer = diagnose(case_of(*handshake(), *exchange(0.1)))

    assert ("possible", ()) == (answer.verdict, answer.findings)


def captured(check: str, *lines: int, severity: Severity = Severity.FAULT) -> Finding:
    """Return a finding that quotes lines of one capture."""
    source = Source(name="eth0.txt", lines=tuple(f"frame {number}" for number in range(1, 9)))
    spans = tuple(Span(source, line, line) for line in lines)
    return Finding(check=check, severity=severity, claim=check, evidence=spans)


def judged(fit: Fit, line: int) -> Conclusion:
    """Conclude a cause, and one connection that a line of the capture shows."""
    span = captured("x", line).evidence[0]
    asked = Probe.parse("tcp 10.0.0.1 > 10.0.0.2:80")
    symptom = Symptom(probe=asked, fails=fit == Fit.EXPLAINS, spans=(span,))
    conversation = Conversation(
        probe=asked, branches=(), verdict=Reachability.UNDECIDED, truncated=False
    )
    return Conclusion(
        causes=(captured("no-route"),), judgements=(Judgement(symptom, conversation, None, fit),)
    )


def test_what_is_told_already_is_not_added_and_the_rest_is() -> None:
    """The same fault, or the line that decided another one, is told once."""
    told = captured("lost-ack", 1)
    again, same_line, other = captured("lost-ack", 5), captured("one-way", 1), captured("reset", 3)

    assert (told, other) == add_captured((told,), (again, same_line, other), Conclusion())


def test_a_possibility_hides_nothing_that_a_capture_shows() -> None:
    """Only what is certain is told once and for all."""
    possible = replace(captured("lost-ack", 1), certainty=0.5)
    shown = captured("lost-ack", 5)

    assert (possible, shown) == add_captured((possible,), (shown,), Conclusion())


def test_frames_of_the_connection_that_a_cause_explains_are_not_told_again() -> None:
    """Those of one that works are."""
    shown = captured("handshake-repeated", 2)

    assert () == add_captured((), (shown,), judged(Fit.EXPLAINS, 2))
    assert (shown,) == add_captured((), (shown,), judged(Fit.KEEPS, 2))


def test_what_an_arp_frame_explains_hides_nothing_that_stands_behind_it() -> None:
    """Frames to a wrong MAC are told by the ARP frame that taught it; the next finding is told."""
    taught = replace(captured("foreign-arp", 1), marks=("10.0.0.2",))
    lost, reset = replace(captured("wrong-mac", 2), marks=("10.0.0.2",)), captured("reset", 3)

    assert (taught, reset) == add_captured((taught,), (lost, reset), Conclusion())
    again = captured("foreign-arp", 9)
    assert (taught, reset) == add_captured((taught,), (again, reset), Conclusion())
