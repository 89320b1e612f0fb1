"""own-address-received: a bridge receives frames that carry its own MAC address as their source."""

from __future__ import annotations

import pytest

from podpath.checks.links.own_address_received import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        (
            "br0: received packet on eth0 with own address as source address "
            "(addr:02:aa:bb:cc:dd:ee, vlan:0)"
        ),
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
    assert (
        find_by_lines(
            NAME,
            (
                "cni0: received packet on veth12 with own address as source address "
                "(addr:02:aa:bb:cc:dd:ee, vlan:0)"
            ),
        )
        == []
    )


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
