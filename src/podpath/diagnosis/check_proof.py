"""Is a check's repair a cure? On the changed node the check has to find nothing, and no connection
may change unasked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from podpath.checks.finding import Finding, Repair
from podpath.checks.links import enslaved_route, foreign_arp
from podpath.checks.registry import find_check
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.proof import BRANCHES, describe
from podpath.net.probe import Probe
from podpath.node.alteration import apply_changes
from podpath.node.case import Case

RULED_BY = {foreign_arp.NAME: enslaved_route.NAME}
"""A check that looks at frames of the past is proven by the one that looks at what made them."""


def prove_check(case: Case, finding: Finding, flows: Sequence[Probe]) -> Finding:
    """Prove the repairs of a finding that a check made; those that do not cure are left out."""
    name = RULED_BY.get(finding.check, finding.check)
    repairs = tuple(
        proven
        for repair in finding.repairs
        if (proven := _prove(case, name, finding, repair, flows)) is not None
    )
    return replace(finding, repairs=repairs)


def _prove(
    case: Case, name: str, finding: Finding, repair: Repair, flows: Sequence[Probe]
) -> Repair | None:
    if repair.proven or not repair.changes:
        return repair
    changed = replace(case, node=apply_changes(case.node, repair.changes))
    check = find_check(name)
    if check is None or check.run is None or changed.node == case.node:
        return repair  # the model cannot show it: what would change is not known for sure
    left = tuple(check.run(changed))
    if any(found.evidence[:1] and found.evidence[0] in finding.evidence for found in left):
        return None
    if any(set(found.evidence) & set(finding.evidence) for found in left):
        return repair  # something of it is found still, whether the same thing or not
    before, after = Engine(case.node), Engine(changed.node)
    effects = []
    for probe in flows:
        was, is_now = _verdict(before, probe), _verdict(after, probe)
        if is_now not in {was, "works"}:
            effects.append(f"{probe}: {was} before, {is_now} after")
    return replace(repair, proven="simulated", side_effects=tuple(effects))


def _verdict(engine: Engine, probe: Probe) -> str:
    return describe(converse(engine, probe, limit=BRANCHES, deviations=0))
