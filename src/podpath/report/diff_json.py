"""Two compared nodes as a JSON document of the published, versioned schema `podpath/diff/v1`."""

from __future__ import annotations

import json

from podpath.checks.owned import OwnerPlaces
from podpath.diagnosis.difference.compare import ComparedOutcome, MinimalCure, NodeComparison
from podpath.diagnosis.difference.difference import Difference
from podpath.diagnosis.difference.smallest import Taken
from podpath.diagnosis.proof import describe
from podpath.report.borders import gap_object, quote_object
from podpath.report.claims import spell_claim
from podpath.report.clearance_words import forbids_object
from podpath.report.escape import escape
from podpath.report.owner_words import owned_objects
from podpath.report.sentences import spell_failure
from podpath.report.walked_text import representative

SCHEMA = "podpath/diff/v1"


def render_diff_json(comparison: NodeComparison) -> str:
    """Render the whole answer as one JSON document, with a line end."""
    document = {
        "schema": SCHEMA,
        "verdict": comparison.verdict,
        "explanations": [
            _explanation(explanation, comparison.owners) for explanation in comparison.explanations
        ],
        "conversations": [_outcome(outcome) for outcome in comparison.outcomes],
        "unexplained": [escape(str(probe)) for probe in comparison.unexplained],
        "differences": [_difference(each, comparison.owners) for each in comparison.rest],
        "gaps": [gap_object(gap) for gap in comparison.gaps],
        "forbids": [forbids_object(one, comparison.owners) for one in comparison.forbids],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _explanation(explanation: MinimalCure, owners: OwnerPlaces) -> dict[str, object]:
    return {
        "differences": _differences(explanation.differences, owners),
        "alternatives": [_differences(taken, owners) for taken in explanation.others],
        "probes": [escape(str(probe)) for probe in explanation.probes],
        "faults": [
            {"check": finding.check, "claim": escape(spell_claim(finding.claim))}
            for finding in explanation.findings
        ],
        "proven": "simulated",
    }


def _differences(taken: Taken, owners: OwnerPlaces) -> list[dict[str, object]]:
    return [_difference(each, owners) for each in taken]


def _difference(each: Difference, owners: OwnerPlaces) -> dict[str, object]:
    return {
        "kind": each.kind,
        "netns": escape(each.netns),
        "says": escape(each.words),
        "here": [quote_object(span) for span in each.here],
        "there": [quote_object(span) for span in each.there],
        "whose": owned_objects(owners.list_owned((*each.here, *each.there))),
        "commands": [escape(command) for command in each.commands],
        "tried": each.can_be_taken,
    }


def _outcome(outcome: ComparedOutcome) -> dict[str, object]:
    branch = representative(outcome.here) if outcome.fails_here else None
    return {
        "probe": escape(str(outcome.probe)),
        "here": describe(outcome.here),
        "there": describe(outcome.there),
        "failure": escape(spell_failure(branch.failure)) if branch is not None else "",
    }
