"""address-pools-overlap: a network is not created, since its range overlaps one that is in use."""

from __future__ import annotations

import pytest

from podpath.checks.routing.address_pools_overlap import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: could not find an available, non-overlapping IPv4 address pool among the defaults to assign",
        "Error response from daemon: Pool overlaps with other one on this address space",
        "Network 10.32.0.0/12 overlaps with existing route 10.0.0.0/8 on host",
    ],
)
def test_the_line_convicts_alone(line: str) -> None:
    """It names its cause itself, so the finding is certain and quotes it first."""
    found = find_by_lines(NAME, line)
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [("fault", 1.0, line)]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert find_by_lines(NAME, "network pods created with an IPv4 address pool of its own") == []


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
