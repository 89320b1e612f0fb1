"""A diagnosis as a page: what decides stands first, and nothing of the evidence becomes markup."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from podpath.diagnosis.diagnosis import Diagnosis
from podpath.library.diagnosis import diagnose
from podpath.report.pages.diagnosis_page import render_diagnosis_page
from tests.report import diagnoses
from tests.report.pages.documents import Document

ROOT = Path(__file__).resolve().parents[3]
INCIDENTS = sorted((ROOT / "examples" / "incidents").glob("*/ticket.md"))
MEGABYTE = 1_000_000


@pytest.mark.parametrize("ticket", INCIDENTS, ids=lambda path: str(path.parent.name))
def test_an_example_tells_all_before_anything_is_opened(ticket: Path) -> None:
    """Claim, drawing, deciding line with its place, and each command of the fix."""
    answer = diagnose(ticket)
    page = answer.html()
    document = Document(page)
    finding = answer.findings[0]
    for_desk = re.sub(r'<figure class="drawn narrow">.*?</figure>', "", page, flags=re.DOTALL)
    before = Document(for_desk.partition("<details>")[0]).text
    assert document.strange == []
    assert len(page) < MEGABYTE
    assert before.lstrip().startswith("CAUSE: ")
    assert str(finding.evidence[0]) in before
    assert finding.evidence[0].text.splitlines()[0] in before
    assert all(command in before for command in finding.repairs[0].commands)
    assert "<svg" in page


def test_each_step_can_be_opened() -> None:
    """Behind a packet stand its steps, with the kernel's function and the line."""
    answer = diagnose(ROOT / "examples" / "incidents" / "rp-filter-reset" / "ticket.md")
    text = Document(answer.html()).text
    branch = answer.drawn
    assert branch is not None
    assert all(f"{trace.name}, step by step" in text for trace in branch.traces)
    assert all(step.function in text for step in branch.steps)


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(diagnoses.diagnoses)
def test_any_diagnosis_is_one_sound_page(diagnosis: Diagnosis) -> None:
    """Whatever the evidence holds: our elements alone, each closed, and no page of a megabyte."""
    page = render_diagnosis_page(diagnosis)
    assert Document(page).strange == []
    assert len(page) < MEGABYTE
    assert page.isprintable() or set(page) - {"\n"} <= {sign for sign in page if sign.isprintable()}
