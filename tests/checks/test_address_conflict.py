"""address-conflict: another host uses the same IP address, as the kernel, DHCP or an agent says."""

from __future__ import annotations

import pytest

from podpath.checks.address_conflict import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "dhclient[11]: DHCPDECLINE of 10.0.0.226 on enp0s3 to 255.255.255.255 port 67",
        "Calico node 'w1' is already using the IPv4 address 192.168.1.5.",
    ],
)
def test_the_line_convicts_alone(line: str) -> None:
    """It names its cause itself, so the finding is certain and quotes it first."""
    found = find_by_lines(NAME, line)
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [("fault", 1.0, line)]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert find_by_lines(NAME, "dhclient[11]: DHCPREQUEST for 10.0.0.226 on enp0s3 to 255.255.255.255 port 67") == []


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
