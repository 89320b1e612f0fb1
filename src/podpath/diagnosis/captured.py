"""What captures show by themselves, besides what the walks say: a fault is reported once, by the
side that knows more about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from podpath.checks.captured import CapturedTraffic
from podpath.checks.captures import handshake_repeated, icmp_error, one_way
from podpath.checks.finding import WEIGHTY, Finding, Severity
from podpath.checks.links import foreign_arp, gratuitous_arp, mac_flap, wrong_mac
from podpath.checks.looks import look_at_captures
from podpath.diagnosis.fit import Fit
from podpath.net.provenance import Span
from podpath.node.case import Case

if (
    TYPE_CHECKING
):  # captures alone are looked at without the model of the datapath, which takes longer to load
    from podpath.diagnosis.conclusion import Conclusion
    from podpath.diagnosis.symptoms import Symptom

SYMPTOMS = (handshake_repeated.NAME, icmp_error.NAME, one_way.NAME)
"""What a capture shows of a failure without saying where it comes from."""
TAUGHT = (wrong_mac.NAME, one_way.NAME, mac_flap.NAME, gratuitous_arp.NAME)
"""What comes of an ARP frame with a foreign MAC."""


def check_captures(case: Case, traffic: CapturedTraffic | None = None) -> tuple[Finding, ...]:
    """Say what captures show without a node's evidence, faults first; `traffic` where it was
    gathered already.
    """
    found = [*foreign_arp.check(case), *look_at_captures(case, traffic, alone=True)]
    found = [finding for finding in found if not _is_told_by_arp(finding, found)]
    order = {"cause": 0, "fault": 1, "risk": 2, "note": 3}
    return tuple(sorted(found, key=lambda finding: order[finding.severity]))


def add_captured(
    findings: Sequence[Finding], captured: Iterable[Finding], concluded: Conclusion
) -> tuple[Finding, ...]:
    """Add what captures show to what was found, without what a sure cause explains.

    Where the cause is open, a mere symptom is a note: the possibilities that are told are about it.
    """
    explained = {_place(span) for span in _explained_frames(concluded)}
    told = {
        finding.check
        for finding in findings
        if finding.severity in WEIGHTY and finding.certainty == 1
    }
    covered = {
        _place(span)
        for finding in findings
        if finding.certainty == 1
        for span in finding.evidence[:1]
    }
    added: list[Finding] = []
    for finding in captured:
        mine = [_place(span) for span in finding.evidence]
        if finding.check in told or explained.intersection(mine) or covered.intersection(mine[:1]):
            continue
        if _is_told_by_arp(finding, findings):
            continue
        open_still = (
            finding.check in SYMPTOMS
            and finding.severity in ("fault", "risk")
            and bool(concluded.possible or concluded.unexplained)
        )
        added.append(replace(finding, severity=Severity.NOTE) if open_still else finding)
    return (*findings, *added)


def _place(span: Span) -> tuple[str, int]:
    """Name a line: two readings of a capture may both show it."""
    return span.source.name, span.line


def _explained_frames(concluded: Conclusion) -> Iterator[Span]:
    """Yield the lines of all that captures show of connections whose failure has a sure cause."""
    if not concluded.causes:
        return
    for judgement in concluded.judgements:
        if judgement.fit == Fit.EXPLAINS:
            yield from _frames_of(judgement.symptom)


def _frames_of(symptom: Symptom) -> Iterator[Span]:
    yield from symptom.spans
    for observed in symptom.observed:
        yield from (seen.span for seen in observed.seen)


def _is_told_by_arp(finding: Finding, findings: Sequence[Finding]) -> bool:
    """Tell whether a foreign ARP frame is told of as the reason why frames to an address are
    lost.
    """
    if finding.check not in TAUGHT:
        return False
    told = {
        mark
        for other in findings
        if other.check in (foreign_arp.NAME, "enslaved-route")
        for mark in other.marks
    }
    return bool(told & set(finding.marks))
