"""Greps whose output does not hold what they look for."""

from __future__ import annotations

from tests.assembly.evidence_text import (
    Output,
    alternative_of,
    case_of,
    link_of,
)


def test_grep_for_another_mac_than_it_prints() -> None:
    """A MAC that a grep asked for and whose output does not hold it is a second MAC of the
    device.
    """
    shown = (
        "3: eth1: <BROADCAST,UP,LOWER_UP> mtu 1500\n"
        "    link/ether 52:54:00:aa:00:01 brd ff:ff:ff:ff:ff:ff"
    )
    case = case_of(Output("ip link | grep -B 1 52:54:00:bb:00:02", shown))
    assert link_of(case.node.host, "eth1").mac == "52:54:00:aa:00:01"
    assert link_of(alternative_of(case, "mac of eth1").node.host, "eth1").mac == "52:54:00:bb:00:02"
