"""Answers about flows as SARIF."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from podpath.library.flows import FlowsResult
from tests.report.flow_answers import ANSWERS, EVERY, named


@EVERY
def test_sarif_has_what_its_schema_demands(answer: FlowsResult) -> None:
    """The essential rules of SARIF 2.1.0: version, driver, rules that results refer to, a message,
    locations with a URI and lines from one on.
    """
    report = json.loads(answer.sarif())
    (run,) = report["runs"]
    rules = run["tool"]["driver"]["rules"]

    assert "2.1.0" == report["version"]
    assert len(run["results"]) == len(answer.answer.unmet) + len(answer.answer.undecided)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning"}
        assert result["message"]["text"]
        assert result["locations"]
        for place in (*result["locations"], *result["relatedLocations"]):
            region = place["physicalLocation"]["region"]
            assert 1 <= region["startLine"] <= region["endLine"]
            assert place["physicalLocation"]["artifactLocation"]["uri"].isascii()


@given(st.text(min_size=1, max_size=20))
def test_any_name_is_spelled(name: str) -> None:
    """What somebody called a flow breaks no report."""
    assert json.loads(named(name).sarif())["runs"][0]["results"]


def test_a_message_says_whose_the_lines_are() -> None:
    """A rule among the kernel's own chains is an admin's or a script's."""
    (result, *_) = json.loads(ANSWERS["unmet"].sarif())["runs"][0]["results"]

    assert "an admin's or a script's" in result["message"]["text"]
