"""A sentence that says two things: what works, and what does not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.documents.clauses import Clause, split_clauses

FAILS, WORKS = re.compile("fails|times out"), re.compile("works|reach")


def judge(text: str) -> bool | None:
    """Tell by two words what a text says."""
    if FAILS.search(text):
        return False
    return True if WORKS.search(text) else None


@pytest.mark.parametrize(
    ("text", "works", "fails"),
    [
        (
            "They reach the host, but nothing beyond it.",
            "They reach the host",
            "nothing beyond it.",
        ),
        ("ping works; curl fails.", "ping works", "curl fails."),
        ("It works from here but not from there.", "It works from here", "not from there."),
        ("Ping works, whereas curl times out.", "Ping works", "curl times out."),
        ("All works, yet one thing fails.", "All works", "one thing fails."),
        ("Since then, ping works, and nothing else.", "Since then, ping works", "nothing else."),
    ],
)
def test_both_halves_of_a_contrast_are_told_apart(text: str, works: str, fails: str) -> None:
    """By any word for a contrast; a denial without a verb fails."""
    assert split_clauses(text, judge) == (Clause(works, works=True), Clause(fails, works=False))


@pytest.mark.parametrize(
    "text",
    ["All of it works; that works, too.", "It fails, but slowly.", "But it is so.", "", "; ; but"],
)
def test_a_sentence_that_says_one_thing_is_left_whole(text: str) -> None:
    """There is nothing to tell apart."""
    assert split_clauses(text, judge) == ()


@given(st.lists(st.sampled_from(["but", ";", "works", "fails", ", not", "x", "while"])))
def test_every_verdict_is_kept(words: list[str]) -> None:
    """Clauses hold all verdicts, or there are none."""
    text = " ".join(words)
    clauses = split_clauses(text, judge)

    assert all(judge(clause.text) is not None or not clause.works for clause in clauses)
    assert not clauses or {clause.works for clause in clauses} == {True, False}
