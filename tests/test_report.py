"""Reports over generated diagnoses: they never raise, print nothing dangerous, and keep to the
published schemas.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podpath.datapath.tracing.trace import Conversation
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.net.provenance import Gap
from podpath.report.diagnosis_text import render_diagnosis
from podpath.report.json_documents import render_diagnosis_json, render_trace_json
from podpath.report.style import Style
from podpath.report.trace_text import render_trace
from tests.report import diagnoses

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

EXAMPLES = settings(
    max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
styles = st.builds(
    Style,
    color=st.just(False),
    unicode=st.booleans(),
    verbose=st.booleans(),
    width=st.integers(20, 200),
)


def _schema(repository: Path, name: str) -> Validator:
    document = json.loads((repository / "src/podpath/report/schema" / name).read_text())
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


@pytest.fixture(scope="module")
def diagnosis_schema(repository: Path) -> Validator:
    """Provide the validator of `podpath/diagnosis/v1`."""
    return _schema(repository, "diagnosis-v1.json")


@pytest.fixture(scope="module")
def trace_schema(repository: Path) -> Validator:
    """Provide the validator of `podpath/trace/v1`."""
    return _schema(repository, "trace-v1.json")


@EXAMPLES
@given(diagnoses.diagnoses, styles)
def test_a_diagnosis_renders_to_printable_lines(diagnosis: Diagnosis, style: Style) -> None:
    """Whatever the diagnosis holds, the text is lines of printable characters."""
    text = render_diagnosis(diagnosis, style)
    assert text.endswith("\n")
    assert all(line.isprintable() for line in text.split("\n"))


@EXAMPLES
@given(diagnoses.conversations, styles)
def test_a_trace_renders_to_printable_lines(conversation: Conversation, style: Style) -> None:
    """Whatever the conversation holds, the text is lines of printable characters."""
    assert all(line.isprintable() for line in render_trace(conversation, style).split("\n"))


@EXAMPLES
@given(diagnoses.diagnoses)
def test_diagnosis_json_keeps_to_its_schema(
    diagnosis_schema: Validator, diagnosis: Diagnosis
) -> None:
    """What `--json` prints is valid against the schema that is published with it."""
    diagnosis_schema.validate(json.loads(render_diagnosis_json(diagnosis)))


@EXAMPLES
@given(diagnoses.conversations, diagnoses.gaps)
def test_trace_json_keeps_to_its_schema(
    trace_schema: Validator, conversation: Conversation, gaps: tuple[Gap, ...]
) -> None:
    """What `trace --json` prints is valid against the schema that is published with it."""
    trace_schema.validate(json.loads(render_trace_json(conversation, gaps)))


@EXAMPLES
@given(diagnoses.diagnoses)
def test_colors_change_no_text(diagnosis: Diagnosis) -> None:
    """With its colors taken out, the colored headline is the plain one."""
    plain = render_diagnosis(diagnosis, Style(width=100)).split("\n")[0]
    colored = render_diagnosis(diagnosis, Style(color=True, width=100)).split("\n")[0]
    for code in ("\x1b[1;31m", "\x1b[1;33m", "\x1b[32m", "\x1b[0m"):
        colored = colored.replace(code, "")
    assert plain == colored
