"""Flows that are not as expected, or that nobody can tell of, as SARIF 2.1.0: each at the line that
decides, else at the flow's own.
"""

from __future__ import annotations

import hashlib
import json

from podpath.checks.owned import OwnerPlaces
from podpath.flows.compared import FlowResult, FlowsAnswer
from podpath.net.provenance import Span
from podpath.report.escape import clip, escape
from podpath.report.flows_text import list_lines, list_reasons, say_result
from podpath.report.owner_words import say_owned
from podpath.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LONGEST_LINE, LONGEST_MESSAGE = 1_000, 10_000
"""Characters of a quoted line and of what is said of a flow: a line may have megabytes."""
_RULES = (
    ("flow-unmet", "error", "A flow does not behave as expected."),
    ("flow-undecided", "warning", "The evidence does not decide what happens to a flow."),
)


def render_sarif(answer: FlowsAnswer) -> str:
    """Render the report."""
    run = {
        "tool": {
            "driver": {
                "name": "podpath",
                "version": __version__,
                "rules": [
                    {
                        "id": name,
                        "shortDescription": {"text": text},
                        "defaultConfiguration": {"level": level},
                    }
                    for name, level, text in _RULES
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, answer.owners) for one in (*answer.unmet, *answer.undecided)],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _result(one: FlowResult, owners: OwnerPlaces) -> dict[str, object]:
    index = 0 if one.is_met is False else 1
    name, level, _ = _RULES[index]
    spans = list_lines(one)
    own = (one.flow.span,) if one.flow.span is not None else ()
    places = [*spans, *own]
    told = [f"{one.flow.name}: {say_result(one)}", *list_reasons(one)]
    told += say_owned(owners.list_owned(spans))
    print_of_name = hashlib.sha256(f"{name} {one.flow.name}".encode()).hexdigest()[:32]
    return {
        "ruleId": name,
        "ruleIndex": index,
        "level": level,
        "message": {"text": clip(escape("; ".join(told)), LONGEST_MESSAGE)},
        "locations": [_location(span) for span in places[:1]],
        "relatedLocations": [
            {"id": number, **_location(span)} for number, span in enumerate(places[1:], 1)
        ],
        "partialFingerprints": {"podpathFlow/v1": print_of_name},
    }


def _location(span: Span) -> dict[str, object]:
    text = "\n".join(clip(escape(line), LONGEST_LINE) for line in span.text.split("\n")[:4])
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(span.source.name)},
            "region": {
                "startLine": max(span.line, 1),
                "endLine": max(span.last_line, span.line, 1),
                "snippet": {"text": text},
            },
        }
    }


def _uri(name: str) -> str:
    """Spell a file's name as a URI reference (RFC 3986): what it may not hold as bytes in
    percent.
    """
    kept = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
    return "".join(
        chr(byte) if byte in kept else f"%{byte:02X}" for byte in name.encode("utf-8", "replace")
    )
