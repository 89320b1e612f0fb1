"""What a good node has otherwise: the facts that a finding rests on, held against the same facts
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.finding import Finding
from podpath.diagnosis.difference.difference import Difference
from podpath.net.provenance import Known, Span
from podpath.node.change import SetSysctl
from podpath.node.node import HOST, Node


def compare_with_good(finding: Finding, good: Node, differences: Sequence[Difference]) -> Finding:
    """Add to a finding which of its facts differ from the good node's, with the lines that say
    so.
    """
    told = (*_differing(finding, differences), *_unknown_here(finding, good, differences))
    return replace(
        finding,
        reasoning=(*finding.reasoning, *(sentence for sentence, _ in told)),
        evidence=tuple(
            dict.fromkeys((*finding.evidence, *(span for _, spans in told for span in spans)))
        ),
    )


def _differing(
    finding: Finding, differences: Sequence[Difference]
) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Yield the differences in what the finding quotes, in the chains that it quotes a rule of, and
    in what it repairs.
    """
    repaired = _repaired(finding)
    for each in differences:
        quoted = {
            *each.here,
            *((rule.span for rule in each.place.here.rules) if each.place is not None else ()),
        }
        mended = any(
            isinstance(change, SetSysctl) and change.key in repaired for change in each.changes
        )
        if mended or not quoted.isdisjoint(finding.evidence):
            yield f"Difference from the good node: {each.words}.", (*each.here, *each.there)


def _unknown_here(
    finding: Finding, good: Node, differences: Sequence[Difference]
) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Tell what a repair would write and this node's evidence does not state."""
    told = {
        change.key
        for each in differences
        for change in each.changes
        if isinstance(change, SetSysctl)
    }
    for key in sorted(_repaired(finding) - told):
        there = good.namespaces[HOST].sysctls.get(key)
        if (
            isinstance(there, Known)
            and there.span is not None
            and there.span not in finding.evidence
        ):
            yield f"On the good node, {key} is {there.value}.", (there.span,)


def _repaired(finding: Finding) -> set[str]:
    return {
        change.key
        for repair in finding.repairs
        for change in repair.changes
        if isinstance(change, SetSysctl)
    }
