"""The first screen: verdict, deciding line with its place, cure or question, in 24 lines; or all in
three.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from podpath.diagnosis.diagnosis import Diagnosis
from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted
from podpath.report.diagnosis_text import render_diagnosis
from podpath.report.first_screen import SCREEN, render_brief
from podpath.report.style import Style
from tests.report import diagnoses

ROOT = Path(__file__).resolve().parents[2]
INCIDENTS = sorted((ROOT / "examples" / "incidents").glob("*/ticket.md"))
EXAMPLES = settings(
    max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.parametrize("ticket", INCIDENTS, ids=lambda path: str(path.parent.name))
def test_the_screen_holds_what_decides(ticket: Path) -> None:
    """The claim, the line with its file and number, and each command of the cure stand in 24
    lines.
    """
    answer = diagnose(ticket)
    first = answer.findings[0]
    lines = answer.text().splitlines()
    assert len(lines) <= SCREEN
    assert lines[0].startswith("CAUSE: ")
    assert any(f"{first.evidence[0]}" in line and " | " in line for line in lines[:6])
    assert all(any(command in line for line in lines) for command in first.repairs[0].commands)
    assert "--verbose" in lines[-1]


@pytest.mark.parametrize("ticket", INCIDENTS, ids=lambda path: str(path.parent.name))
def test_brief_is_three_lines(ticket: Path) -> None:
    """The verdict, the deciding line, the cure."""
    answer = diagnose(ticket)
    verdict, line, cure = answer.text(Style(brief=True)).splitlines()
    assert verdict.startswith("CAUSE: ")
    assert line.startswith(str(answer.findings[0].evidence[0]))
    assert "fix: " + " && ".join(answer.findings[0].repairs[0].commands) == cure


@EXAMPLES
@given(diagnoses.diagnoses)
def test_brief_is_never_more(diagnosis: Diagnosis) -> None:
    """Whatever a diagnosis holds, it comes to one to three printable lines."""
    lines = render_brief(diagnosis)
    assert 1 <= len(lines) <= 3
    assert all(line.isprintable() for line in lines)


@EXAMPLES
@given(diagnoses.diagnoses)
def test_the_verdict_is_the_same_in_every_length(diagnosis: Diagnosis) -> None:
    """The first word does not depend on how much is shown."""
    words = {
        render_diagnosis(diagnosis, Style(verbose=verbose, brief=brief)).partition(":")[0]
        for verbose, brief in ((False, False), (True, False), (False, True))
    }
    assert len(words) == 1


def test_brief_says_a_cure_without_commands() -> None:
    """Its title is what there is to do."""
    text = 'kube-proxy-1 F0311 07:00:02.1 1 server.go:495] "Error running ProxyServer" err="open '
    text += '/proc/sys/net/netfilter/nf_conntrack_max: permission denied"\n'
    answer = diagnose(Pasted(f"Services do not answer.\n\n```\n{text}```\n", "ticket.md"))

    assert answer.findings[0].repairs[0].commands == ()
    assert answer.text(Style(brief=True)).splitlines()[-1] == (
        f"fix: {answer.findings[0].repairs[0].title}"
    )
