"""Acceptance 4: the first screen of every answer about every golden incident holds what decides,
and --brief only that.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import podpath
from podpath.library.captures import captures
from podpath.library.result import Result
from podpath.report.style import Style

ROOT = Path(__file__).parents[2]
INCIDENTS = sorted(path for path in (ROOT / "examples" / "incidents").iterdir() if path.is_dir())
TICKETS = sorted((ROOT / "tests" / "data" / "tickets").iterdir())
SCREEN = 24
QUOTE = re.compile(r"\S+:\d+ \| .")
NEXT = re.compile(r"^\s*(?:fix|ask next|next|if so)\b", re.MULTILINE)
HEADLINE = re.compile(r"[A-Z][A-Z ]+: \S")


def assert_told_at_once(answer: Result) -> None:
    """Require the verdict, the line that decides, and the cure or the question on the first screen,
    and in the brief answer.
    """
    lines = answer.text(Style(width=100)).splitlines()
    screen = "\n".join(lines[:SCREEN])
    brief = answer.text(Style(width=100, brief=True)).splitlines()
    assert HEADLINE.match(lines[0])
    assert QUOTE.search(screen), screen
    assert NEXT.search(screen), screen
    assert len(brief) == 3
    assert HEADLINE.match(brief[0])
    assert QUOTE.match(brief[1])
    assert brief[2].startswith(("fix: ", "ask: ", "next: ", "more: "))


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: path.name)
@pytest.mark.parametrize("form", ["ticket.md", "bundle"])
def test_a_diagnosis_tells_at_once(incident: Path, form: str) -> None:
    """Of tickets and of bundles."""
    assert_told_at_once(podpath.diagnose(incident / form))


@pytest.mark.parametrize("ticket", TICKETS, ids=lambda path: path.name)
def test_a_diagnosis_of_a_console_tells_at_once(ticket: Path) -> None:
    """Of console output alone."""
    assert_told_at_once(podpath.diagnose(ticket / "console.txt"))


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: path.name)
def test_a_trace_tells_at_once(incident: Path) -> None:
    """Of the connection that a diagnosis walked and that fails."""
    failing = [
        each
        for each in podpath.diagnose(incident / "bundle").conversations
        if each.verdict != "ALWAYS"
    ]
    for conversation in failing[:1]:
        assert_told_at_once(podpath.trace(incident / "bundle", conversation.probe))


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: path.name)
def test_a_comparison_tells_at_once(incident: Path) -> None:
    """Of the node at fault with its healthy counterpart, where a walk shows the failure."""
    answer = podpath.diff(incident / "bundle", incident / "good")
    if answer.comparison.explanations:
        assert_told_at_once(answer)


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: path.name)
def test_captures_tell_at_once(incident: Path) -> None:
    """Of captures that show a failure."""
    answer = captures(incident / "bundle" / "captures")
    if answer.findings:
        assert_told_at_once(answer)
