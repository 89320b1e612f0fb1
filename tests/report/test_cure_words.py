"""The manual's cure, where no command was worked out."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding, Severity
from podpath.checks.registry import CHECKS, Check
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


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_page_has_a_cure(check: Check) -> None:
    """It is one line, and no heading of the page stands in it."""
    said = say_fix(_finding(check.name))

    assert said
    assert "\n" not in said
    assert not any(heading in said for heading in ("What it is", "How to confirm", "References"))
    assert said != "Keep it whole."


def test_what_has_no_page_is_prevented() -> None:
    """A walk's cause without a check."""
    assert say_fix(_finding("nothing-known")) == "Keep it whole."
