"""Answers about flows as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from podpath.library.flows import FlowsResult
from tests.report.flow_answers import EVERY


@EVERY
def test_json_keeps_to_its_schema(answer: FlowsResult, repository: Path) -> None:
    """What `--json` prints is valid against the schema that is published with it."""
    text = (repository / "src/podpath/report/schema/check-v1.json").read_text()
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.Draft202012Validator(schema).validate(answer.data())
    assert answer.data()["verdict"] == answer.verdict
