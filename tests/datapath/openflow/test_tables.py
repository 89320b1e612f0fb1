"""Ports by name and number, and which flow takes a packet."""

from __future__ import annotations

from podpath.datapath.openflow.matches import reserved
from podpath.datapath.openflow.tables import FlowTables
from podpath.node.openflow import FlowEntry, OpenFlow


def test_names_of_ports() -> None:
    """A port is found by name and number; one without a number gets one that lasts."""
    tables = FlowTables(OpenFlow(ports={"eth1": 2}))

    assert (2, 2, 0xFFFE) == tuple(map(tables.port_number, ('"eth1"', "2", "LOCAL")))
    assert tables.port_number("tap7") == tables.port_number('"tap7"')
    assert (None, 9) == (reserved("x"), reserved("9"))


def test_a_lookup_says_which_flow_it_cannot_judge() -> None:
    """A flow that may take the packet stands before one that does."""
    flows = (FlowEntry(0, 9, (("dl_src", "02:00:00:00:00:01"),), "drop"), FlowEntry(0, 1, (), "2"))
    tables = FlowTables(OpenFlow(flows=flows))
    known, unknown = tables.look_up(0, {"eth_src": 7}), tables.look_up(0, {})

    assert known.flow is not None
    assert unknown.open is not None
    assert (1, 9) == (known.flow.flow.priority, unknown.open.flow.priority)
