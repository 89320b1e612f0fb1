"""Tests of what the kernel draws at random."""

from __future__ import annotations

from podpath.datapath.walk.draws import Draws


def test_each_packet_has_a_draw_of_its_own() -> None:
    """What the kernel draws for each packet has one name for the packet that it is first drawn for,
    and others later.
    """
    draws = Draws()
    names = []
    for draws.packets in (2, 2, 4):
        names.append(draws.name("statistic"))
    assert names == ["statistic", "statistic", "statistic, 2 packets later"]


def test_each_flow_has_a_port_of_its_own() -> None:
    """The first flow has the lowest port, and keeps it."""
    draws = Draws()
    assert [49152, 49153, 49152] == [draws.flow_port(flow, 49152) for flow in ("a", "b", "a")]
