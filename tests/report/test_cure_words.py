"""The manual's cure, where no command was worked out."""

from __future__ import annotations

from podpath.checks.finding import Finding, Severity
from podpath.checks.registry import CHECKS
from podpath.report.cure_words import say_fix


def _finding(check: str) -> Finding:
    return Finding(
        check=check,
        severity=Severity.FAULT,
        claim="It is broken.",
        evidence=(),
        reasoning=(),
        breaks=(),
        prevention="Keep it whole.",
    )


def test_every_page_has_a_cure() -> None:
    """It is one line, and no heading of the page stands in it."""
    said = {check.name: say_fix(_finding(check.name)) for check in CHECKS}
    headings = ("What it is", "How to confirm", "References", "\n", "Keep it whole.")
    cut = [name for name, text in said.items() if any(word in text for word in headings)]

    assert [] == [name for name, text in said.items() if not text]
    assert [] == cut


def test_what_has_no_page_is_prevented() -> None:
    """A walk's cause without a check."""
    assert say_fix(_finding("nothing-known")) == "Keep it whole."
