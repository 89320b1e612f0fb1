"""The order of findings: what fits the stated symptom before what cannot make it, the sure before the possible.

What a walk shows of a failing connection fits by itself. Of facts that checks find, those that cannot make any failure that is
stated come last, and a fault among them is no cause: it is told as a thing that was seen as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from podpath.checks.explains import can_make
from podpath.checks.finding import Finding
from podpath.checks.registry import find_check
from podpath.diagnosis.clues import list_clues
from podpath.net.failures import FailureKind
from podpath.node.case import Case


def rank_findings(case: Case, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings in the order in which they are told, each with the reason where its place needs one."""
    kinds = frozenset(clue for clue in list_clues(case) if isinstance(clue, FailureKind))
    judged = [(finding, _fits(finding, kinds)) for finding in findings]
    told = [finding if fits else _set_aside(finding, kinds) for finding, fits in judged]
    order = sorted(range(len(told)), key=lambda place: (not judged[place][1], _is_unsure(told[place])))
    return tuple(told[place] for place in order)


def _fits(finding: Finding, kinds: frozenset[FailureKind]) -> bool:
    check = find_check(finding.check)
    return finding.severity != "fault" or check is None or can_make(check.categories, kinds)


def _is_unsure(finding: Finding) -> bool:
    return finding.severity == "cause" and finding.certainty < 1


def _set_aside(finding: Finding, kinds: frozenset[FailureKind]) -> Finding:
    """Return a fault that cannot make what is stated as a thing that was seen as well, and say why."""
    words = " or ".join(sorted(kind.value for kind in kinds))
    return replace(finding, severity="risk", reasoning=(*finding.reasoning, f"It cannot make what is stated: {words}."))
