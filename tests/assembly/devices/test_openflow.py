"""Flows, groups and port numbers of Open vSwitch: which bridge has them."""

from __future__ import annotations

from tests.assembly.evidence_text import Output, case_of

FLOWS = """
NXST_FLOW reply (xid=0x4):
 cookie=0x0, duration=550.697s, table=0, n_packets=0, n_bytes=0, priority=5,tcp actions=NORMAL
"""
NUMBERS = """
OFPST_PORT_DESC reply (xid=0x2):
 1(eth0): addr:aa:55:aa:55:00:16
     config:     0
"""


def test_flows_of_the_bridge_that_the_command_names() -> None:
    """A bridge has the flows and the port numbers that outputs about it show; without a listing of
    its ports it is there by its flows.
    """
    case = case_of(
        Output("ovs-ofctl dump-flows br-int", FLOWS), Output("ovs-ofctl show br-int", NUMBERS)
    )
    (bridge,) = case.node.ovs
    openflow = bridge.openflow

    assert openflow is not None
    assert ("br-int", True, {"eth0": 1}) == (bridge.name, openflow.complete, openflow.ports)
    assert [(0, 5, (("tcp", ""),), "NORMAL")] == [flow[:4] for flow in openflow.flows]


def test_flows_without_a_command_are_those_of_the_only_bridge() -> None:
    """Of two bridges nobody knows whose flows they are: that is said."""
    show = "\n".join(f"    Bridge {name}\n        Port {name}" for name in ("br-a", "br-b"))
    one, two = (
        case_of(Output("ovs-vsctl show", text), Output(None, FLOWS))
        for text in (show[: show.index("\n    Bridge br-b")], show)
    )

    assert [True] == [bridge.openflow is not None for bridge in one.node.ovs]
    assert [False, False] == [bridge.openflow is not None for bridge in two.node.ovs]
    assert any("names a bridge" in gap.why for gap in two.gaps)
