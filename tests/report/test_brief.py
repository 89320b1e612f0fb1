"""An answer in three lines."""

from __future__ import annotations

from podpath.report.brief import render_brief_answer, render_decisive
from podpath.report.style import Style
from tests.checks.nodes import span


def test_a_cure_comes_before_a_question() -> None:
    """What mends it is told; what to ask next only where nothing does."""
    line = span("-A FORWARD -j DROP")
    cured = render_brief_answer(["FAULT: it", "  drops."], [line], fix=["a", "b"], ask="c")
    assert ["FAULT: it drops.", "fix: a && b"] == cured.splitlines()[::2]
    assert "next: c" in render_brief_answer(["UNDECIDED: it"], [], ask="c")
    assert ["  next: c"] == render_decisive((), Style(), ask="c")
