"""device-hangs: the kernel reports that a network card's transmit queue hangs."""

from __future__ import annotations

import pytest

from podpath.checks.links.device_hangs import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "kernel: e1000e 0000:00:1f.6 eno1: Detected Hardware Unit Hang:",
        "NETDEV WATCHDOG: eth0 (r8169): transmit queue 0 timed out",
    ],
)
def test_the_line_convicts_alone(line: str) -> None:
    """It names its cause itself, so the finding is certain and quotes it first."""
    found = find_by_lines(NAME, line)
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [("fault", 1.0, line)]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert find_by_lines(NAME, "e1000e 0000:00:1f.6 eno1: NIC Link is Up 1000 Mbps Full Duplex, Flow Control: None") == []


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
