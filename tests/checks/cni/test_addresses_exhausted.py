"""addresses-exhausted: there is no address left to give."""

from __future__ import annotations

import pytest

from podpath.checks.cni.addresses_exhausted import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "failed to allocate for range 0: no IP addresses available in range set: 10.1.0.1-10.1.0.254",
        "add cmd: failed to assign an IP address to container",
        "dhcpd: DHCPDISCOVER from 02:00:00:00:00:01 via eth1: network 10.0.0.0/24: no free leases",
    ],
)
def test_the_line_convicts_alone(line: str) -> None:
    """It names its cause itself, so the finding is certain and quotes it first."""
    found = find_by_lines(NAME, line)
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [("fault", 1.0, line)]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert find_by_lines(NAME, "IP addresses available in range set: 17") == []


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
