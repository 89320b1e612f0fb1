"""What captures show, as a JSON document of the published, versioned schema
`podpath/capture/v1`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from podpath.capture.measures import ConnectionMeasures, as_objects
from podpath.diagnosis.capture_answer import CaptureAnswer, CaptureForbids, ConnectionSummary
from podpath.node.case import CapturedPoint
from podpath.report.borders import gap_object, quote_object
from podpath.report.capture_text import say_capture_forbids
from podpath.report.clearance_words import QUOTED
from podpath.report.escape import escape
from podpath.report.finding_json import finding_object

CAPTURE_SCHEMA = "podpath/capture/v1"


def render_capture_json(answer: CaptureAnswer, measured: Sequence[ConnectionMeasures] = ()) -> str:
    """Render the whole answer as one JSON document, with a line end."""
    document: dict[str, object] = {
        "schema": CAPTURE_SCHEMA,
        "verdict": answer.verdict,
        "findings": [finding_object(finding) for finding in answer.findings],
        "points": [_point(point) for point in answer.points],
        "states": dict(answer.states),
        "connections": [_connection(one) for one in answer.connections],
        "gaps": [gap_object(gap) for gap in answer.gaps],
        "forbids": [_forbids(one) for one in answer.forbids],
    }
    if measured:
        document["measured"] = [
            one | {"point": escape(str(one["point"]))} for one in as_objects(measured)
        ]
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _forbids(one: CaptureForbids) -> dict[str, object]:
    quotes = [quote_object(span) for span in one.spans[:QUOTED]]
    return {
        "kind": type(one).__name__,
        "says": escape(say_capture_forbids(one)),
        "evidence": quotes,
    }


def _point(point: CapturedPoint) -> dict[str, object]:
    return {
        "name": escape(point.name),
        "packets": point.packets,
        "first": point.first,
        "last": point.last,
        "dropped": point.dropped,
    }


def _connection(one: ConnectionSummary) -> dict[str, object]:
    return {
        "connection": escape(one.words),
        "state": one.state or None,
        "meaning": one.meaning,
        "fails": one.fails,
        "points": [escape(point) for point in one.points],
        "packets": one.packets,
        "first": one.first,
        "evidence": quote_object(one.span),
    }
