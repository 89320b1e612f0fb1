"""Devices at the two ends of a wire that differ in MTU."""

from __future__ import annotations

import pytest

from podpath.checks.between.mtu_shrinks import NAME
from tests.checks.between.walked import find, works
from tests.datapath.devices.test_underlay import routed


@pytest.mark.parametrize("mtu", [1400, 1499])
def test_a_smaller_end_drops_what_fills_the_other(mtu: int) -> None:
    """The line is that of the device that receives."""
    found = find(routed(0), routed(1, uplink=f"eth0 mtu {mtu}"))

    assert found is not None
    check, netns, line = found
    assert (check, netns) == (NAME, "b/host")
    assert f"mtu {mtu}" in line


@pytest.mark.parametrize(
    ("here", "there"),
    [("eth0", "eth0"), ("eth0 mtu 9000", "eth0 mtu 9000"), ("eth0", "eth0 mtu 9000")],
)
def test_ends_that_take_what_comes(here: str, there: str) -> None:
    """The same MTU, and a larger one where it is received; what is sent back fits, too."""
    pair = routed(0, uplink=here), routed(1, uplink=there)

    assert find(*pair) is None
    assert works(*pair)
