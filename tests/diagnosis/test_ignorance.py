"""Tests of failures that only our ignorance speaks of."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import podpath
from podpath.datapath.tracing.trace import Assumption, Branch
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.ignorance import is_failure_open
from podpath.library.given import Pasted
from tests.incidents.healthy_nodes import PROBES
from tests.test_altered_evidence import NFT, SAVE, Form, with_rule


def branch(*, works: bool | None, random: bool = False, **answers: int) -> Branch:
    """Make a branch under answers; those are the kernel's choices where they are random."""
    made = tuple(
        Assumption(fact, value, f"{fact} is {value}", "", value, random=random)
        for fact, value in answers.items()
    )
    return Branch(assumptions=made, traces=(), works=works)


@pytest.mark.parametrize(
    ("branches", "is_open"),
    [
        ([branch(works=True, rp=0), branch(works=False, rp=1)], True),
        ([branch(works=True, random=True, endpoint=0), branch(works=False, random=True, endpoint=1)], False),  # noqa: E501
        ([branch(works=True), branch(works=False, rp=0), branch(works=False, rp=1)], False),
        ([branch(works=True), branch(works=False, rp=0), branch(works=True, rp=1)], True),
        ([branch(works=False, rp=0), branch(works=None, rp=1)], True),
        ([branch(works=False)], False),
        ([branch(works=False, rp=1, fwd=0), branch(works=True, rp=0), branch(works=False, rp=1, fwd=1)], True),  # noqa: E501
    ],
)  # fmt: skip
def test_only_what_nobody_chose_is_open(branches: list[Branch], *, is_open: bool) -> None:
    """A choice of the kernel's is no ignorance."""
    assert is_failure_open(branches) is is_open


@given(st.lists(st.booleans(), min_size=8, max_size=8))
def test_it_agrees_with_trying_every_answer(works: list[bool]) -> None:
    """Three facts of two values each, all of them asked: some answer must let it work."""
    answers = product((0, 1), repeat=3)
    branches = [
        branch(works=one, a=values[0], b=values[1], c=values[2])
        for one, values in zip(works, answers, strict=True)
    ]
    assert is_failure_open(branches) is any(works)


@pytest.mark.parametrize(
    ("form", "rule", "verdict"),
    [
        (SAVE, "-A FORWARD -m foo --bar 3 -j DROP", Reachability.UNDECIDED),
        (SAVE, (
            "-A FORWARD -m statistic --mode random --probability 0.5 -j "
            "DROP"
        ), Reachability.SOMETIMES),
        (NFT, "\t\tfoo bar drop", Reachability.UNDECIDED),
        (NFT, "\t\tnumgen random mod 2 0 drop", Reachability.SOMETIMES),
    ],
)  # fmt: skip
def test_a_trace_tells_ignorance_from_chance(form: Form, rule: str, verdict: str) -> None:
    """A rule that nobody knows may drop the packet; one that draws lots does."""
    before = "-A FORWARD" if form is SAVE else "jump pods"
    text = with_rule(form, before, rule)
    answer = podpath.trace(Pasted(text, "console.txt"), PROBES[1])
    assert (verdict, 3 if verdict is Reachability.UNDECIDED else 1) == (
        answer.verdict,
        answer.exit_code,
    )
