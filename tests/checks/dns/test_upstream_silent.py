"""upstream-silent: the name server that the cluster's DNS forwards to does not answer."""

from __future__ import annotations

import pytest

from podpath.checks.dns.upstream_silent import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "[ERROR] plugin/errors: 2 a.org. A: read udp 10.1.0.5:40->10.9.0.2:53: i/o timeout",
    ],
)
def test_the_line_leaves_it_open(line: str) -> None:
    """It may have nothing to do with the failure: the finding is not certain, and asks what would make it so."""
    found = find_by_lines(NAME, line)
    assert [one.certainty < 1 and len(one.asks) for one in found] == [1]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert find_by_lines(NAME, '[INFO] 10.1.0.5:40 - 2 "A IN a.org. udp 40" NOERROR') == []


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
