"""What captures show beside the walks: told once, and never twice."""

from __future__ import annotations

from podpath.diagnosis.captured import check_captures
from podpath.diagnosis.diagnose import diagnose
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
