"""Findings of protect as text and as JSON."""

from __future__ import annotations

from podpath.report.style import Style
from podpath_protect.agent.keeper import AgentFinding
from podpath_protect.cli.text import finding_document, render_findings

DRIFT = AgentFinding(
    check="sysctl-drift",
    subject="net.ipv4.ip_forward",
    severity="error",
    claim="net.ipv4.ip_forward is 0\x1b[2J, not 1",
    evidence=("/proc/sys/net/ipv4/ip_forward = 0",),
    mend=("sysctl -w net.ipv4.ip_forward=1",),
)


def test_a_finding_has_its_claim_its_evidence_and_what_mends_it() -> None:
    """In this order; a control character of the system's never reaches a terminal."""
    text = render_findings([DRIFT], Style(width=100, color=False))
    claim, evidence, mend = text.splitlines()
    assert claim.startswith("error: net.ipv4.ip_forward is 0")
    assert "\x1b" not in text
    assert "/proc/sys/net/ipv4/ip_forward = 0" == evidence.strip()
    assert "mend: sysctl -w net.ipv4.ip_forward=1" == mend.strip()


def test_nothing_found_is_nothing_written() -> None:
    """No heading stands above an empty list."""
    assert "" == render_findings([], Style(width=100, color=False))


def test_a_document_has_every_field() -> None:
    """As JSON, what the system said stays as it is."""
    document = finding_document(DRIFT)
    assert {"check", "subject", "severity", "claim", "evidence", "mend"} == set(document)
    assert DRIFT.claim == document["claim"]
