"""Answers about flows as text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.report.style import Style
from tests.report.flow_answers import ANSWERS, named


def test_the_headline_counts() -> None:
    """What is not as expected, and what changed, stands first."""
    first = ANSWERS["unmet"].text().split("\n")[0]

    assert "UNMET: 1 of 2 flows as expected, 1 not, 1 changed by new.rules" == first


def test_what_holds_is_listed_only_where_it_is_asked_for() -> None:
    """Of flows that are as expected and did not change the number is enough."""
    answer = ANSWERS["met"]

    assert "nobody listens" not in answer.text()
    assert "nobody listens" in answer.text(Style(verbose=True))
    assert len(ANSWERS["unmet"].text(Style(brief=True)).split("\n")) < len(
        ANSWERS["unmet"].text().split("\n")
    )


@given(st.text(min_size=1, max_size=20))
def test_any_name_is_printable(name: str) -> None:
    """What somebody called a flow brings no control characters into the answer."""
    assert all(line.isprintable() for line in named(name).text().split("\n"))
