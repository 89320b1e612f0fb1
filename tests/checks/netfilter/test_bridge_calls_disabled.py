"""bridge-calls-disabled: the runtime says that bridged packets do not pass iptables."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.bridge_calls_disabled import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: bridge-nf-call-iptables is disabled",
    ],
)
def test_the_line_leaves_it_open(line: str) -> None:
    """It may have nothing to do with the failure: the finding is not certain, and asks what would
    make it so.
    """
    found = find_by_lines(NAME, line)
    assert [one.certainty < 1 and len(one.asks) for one in found] == [1]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert find_by_lines(NAME, "bridge-nf-call-iptables is enabled") == []


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
