"""tun-device-missing: a program that needs /dev/net/tun does not get it."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.tun_device_missing import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "failed to open TUN device: open /dev/net/tun: no such file or directory",
        "ERROR: Cannot open TUN/TAP dev /dev/net/tun: No such file or directory (errno=2)",
    ],
)
def test_the_line_convicts_alone(line: str) -> None:
    """It names its cause itself, so the finding is certain and quotes it first."""
    found = find_by_lines(NAME, line)
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [("fault", 1.0, line)]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert find_by_lines(NAME, "crw-rw-rw- 1 root root 10, 200 Jan  1 10:00 /dev/net/tun") == []


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
