"""A finding as the schemas of JSON answers have it."""

from __future__ import annotations

from podpath.checks.finding import Finding, Repair
from podpath.checks.owned import NOBODY, OwnerPlaces
from podpath.checks.owners import owners_of_changes
from podpath.report.borders import quote_object
from podpath.report.claims import spell_claim, spell_link
from podpath.report.escape import escape
from podpath.report.owner_words import owned_objects, owner_object, owner_objects


def finding_object(finding: Finding, owners: OwnerPlaces = NOBODY) -> dict[str, object]:
    """Return a finding as the schemas have it."""
    return {
        "check": finding.check,
        "severity": finding.severity,
        "claim": escape(spell_claim(finding.claim)),
        "evidence": [quote_object(span) for span in finding.evidence],
        "reasoning": [escape(spell_link(link)) for link in finding.reasoning],
        "history": [escape(sentence) for sentence in finding.history],
        "breaks": [escape(item) for item in finding.breaks],
        "repairs": [_repair(repair) for repair in finding.repairs],
        "prevention": escape(finding.prevention),
        "certainty": finding.certainty,
        "owner": owner_object(owners.of_finding(finding)),
        "whose": owned_objects(owners.list_owned(finding.evidence)),
    }


def _repair(repair: Repair) -> dict[str, object]:
    return {
        "title": escape(repair.title),
        "commands": [escape(command) for command in repair.commands],
        "proven": repair.proven or None,
        "side_effects": [escape(effect) for effect in repair.side_effects],
        "undone_by": owner_objects(owners_of_changes(repair.changes)),
    }
