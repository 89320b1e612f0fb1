"""kubelet-refuses: the kubelet does not start, and says why."""

from __future__ import annotations

import pytest

from podpath.checks.cni.kubelet_refuses import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        'E1 run.go:74] "command failed" err="failed to run Kubelet: running with swap on is not supported"',
    ],
)
def test_the_line_convicts_alone(line: str) -> None:
    """It names its cause itself, so the finding is certain and quotes it first."""
    found = find_by_lines(NAME, line)
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [("fault", 1.0, line)]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert find_by_lines(NAME, "kubelet started with swap on, which is supported") == []


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
