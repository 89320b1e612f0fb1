"""Flows and what became of them as a JSON document of the schema `podpath/check/v1`."""

from __future__ import annotations

import json

from podpath.checks.owned import OwnerPlaces
from podpath.flows.compared import FlowResult, FlowsAnswer
from podpath.node.planned import PlannedChange
from podpath.report.borders import gap_object, quote_object
from podpath.report.clearance_words import forbids_object
from podpath.report.escape import escape
from podpath.report.flows_text import list_lines, list_reasons, say_result
from podpath.report.owner_words import owned_objects, owner_object

CHECK_SCHEMA = "podpath/check/v1"


def render_flows_json(answer: FlowsAnswer, verdict: str) -> str:
    """Render all flows as one JSON document, with a line end."""
    document = {
        "schema": CHECK_SCHEMA,
        "verdict": verdict,
        "counts": {
            "flows": len(answer.results),
            "unmet": len(answer.unmet),
            "undecided": len(answer.undecided),
            "changed": len(answer.changed),
        },
        "flows": [_flow(one, answer.owners) for one in answer.results],
        "changes": [_change(planned) for planned in answer.changes],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _flow(one: FlowResult, owners: OwnerPlaces) -> dict[str, object]:
    return {
        "name": escape(one.flow.name),
        "from": escape(one.flow.source),
        "to": escape(one.flow.target),
        "protocol": one.flow.protocol,
        "expect": str(one.flow.expect),
        "by": escape(one.flow.by),
        "stated": quote_object(one.flow.span) if one.flow.span is not None else None,
        "probe": escape(str(one.probe)),
        "stands_for": [escape(line) for line in one.flow.stands_for],
        "met": one.is_met,
        "state": str(one.walk.state),
        "before": str(one.before.state) if one.before is not None else None,
        "changed": one.is_changed,
        "says": escape(say_result(one)),
        "reasons": [escape(why) for why in list_reasons(one)],
        "owner": owner_object(one.walk.owner),
        "whose": owned_objects(owners.list_owned(list_lines(one))),
        "evidence": [quote_object(span) for span in list_lines(one)],
        "forbids": [forbids_object(reason, owners) for reason in one.walk.forbids],
    }


def _change(planned: PlannedChange) -> dict[str, object]:
    return {
        "name": escape(planned.name),
        "kind": planned.kind,
        "changes": len(planned.changes) + len(planned.objects),
        "refused": [gap_object(gap) for gap in planned.refused],
    }
