"""conntrack-full: the connection tracking table is full, or nearly so."""

from __future__ import annotations

import pytest

from podpath.checks.conntrack.conntrack_full import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "[ 99.120] nf_conntrack: table full, dropping packet",
    ],
)
def test_the_line_convicts_alone(line: str) -> None:
    """It names its cause itself, so the finding is certain and quotes it first."""
    found = find_by_lines(NAME, line)
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [
        ("fault", 1.0, line)
    ]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert (
        find_by_lines(NAME, "nf_conntrack: default automatic helper assignment has been turned off")
        == []
    )


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
