"""address-conflict: another host uses the same IP address, as the kernel, DHCP or an agent says."""

from __future__ import annotations

import pytest

from podpath.checks.links.address_conflict import NAME
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
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [
        ("fault", 1.0, line)
    ]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert (
        find_by_lines(
            NAME, "dhclient[11]: DHCPREQUEST for 10.0.0.226 on enp0s3 to 255.255.255.255 port 67"
        )
        == []
    )


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []


def test_leases_of_two_clients_are_quoted_first() -> None:
    """The server's own words name both, and say more than the client that declines."""
    lines = (
        "dhcpd: DHCPACK on 10.0.0.226 to 02:00:00:00:00:01 (a) via eth0",
        "dhcpd: DHCPOFFER on 10.0.0.226 to 02:00:00:00:00:02 (b) via eth0",
        "dhcpd: DHCPDECLINE of 10.0.0.226 from 02:00:00:00:00:02 via eth0",
    )
    (found,) = find_by_lines(NAME, *lines)
    assert {one.text for one in found.evidence[:2]} == set(lines[:2])
    (alone,) = find_by_lines(NAME, lines[1], lines[2])
    assert alone.evidence[0].text == lines[2]
