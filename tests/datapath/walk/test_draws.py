"""Tests of what the kernel draws at random."""

from __future__ import annotations

from podpath.datapath.tracing.drawn_port import PortQuestions
from podpath.datapath.walk.draws import Draws

QUESTIONS = PortQuestions(lambda _, likely: likely, lambda _: None)


def test_each_packet_has_a_draw_of_its_own() -> None:
    """What the kernel draws for each packet has one name for the packet that it is first drawn for,
    and others later.
    """
    draws = Draws(QUESTIONS)
    names = []
    for draws.packets in (2, 2, 4):
        names.append(draws.name("statistic"))
    assert names == ["statistic", "statistic", "statistic, 2 packets later"]


def test_each_flow_has_a_port_of_its_own() -> None:
    """The first flow has the lowest port, and keeps it."""
    draws = Draws(QUESTIONS)
    assert [49152, 49153, 49152] == [
        draws.flow_port(flow, (32768, 60999), 49152) for flow in ("a", "b", "a")
    ]


def test_the_same_draw_is_the_same_port() -> None:
    """A rule that is tried and taken back draws no second port; another range is another draw."""
    draws = Draws(QUESTIONS)
    first = draws.port(2000, (1024, 65535), "NAT's port")
    assert first is draws.port(2000, (1024, 65535), "NAT's port")
    assert (first.low, draws.port(2000, (1500, 2500), "NAT's port").low) == (1024, 1500)
