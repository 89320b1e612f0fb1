"""Answers about flows as JUnit."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from podpath.library.flows import FlowsResult
from tests.report.flow_answers import ANSWERS, EVERY, named


@EVERY
def test_junit_counts_what_is_no_pass(answer: FlowsResult) -> None:
    """Not as expected is a failure, undecided an error; everything else has neither."""
    root = ET.fromstring(answer.junit())  # noqa: S314  # our own text
    cases = root.findall("./testsuite/testcase")

    assert root.get("tests") == str(len(answer.flows)) == str(len(cases))
    assert (
        root.get("failures")
        == str(len(root.findall(".//failure")))
        == str(len(answer.answer.unmet))
    )
    assert (
        root.get("errors")
        == str(len(root.findall(".//error")))
        == str(len(answer.answer.undecided))
    )
    assert all(case.get("name") and case.get("classname") for case in cases)


@given(st.text(min_size=1, max_size=20))
def test_any_name_is_spelled(name: str) -> None:
    """What somebody called a flow breaks no report."""
    root = ET.fromstring(named(name).junit())  # noqa: S314  # our own text

    assert 1 == len(root.findall(".//testcase"))


def test_a_failure_says_whose_the_lines_are() -> None:
    """A rule among the kernel's own chains is an admin's or a script's."""
    (failure,) = ET.fromstring(ANSWERS["unmet"].junit()).findall(".//failure")[:1]  # noqa: S314  # our own text

    assert "an admin's or a script's" in (failure.text or "")
