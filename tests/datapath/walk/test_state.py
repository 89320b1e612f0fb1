"""Tests of the state of a branch."""

from __future__ import annotations

from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.learned import NeighbourKey
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Mac
from podpath.testing.nodes import given_node, ip


def test_branches_share_what_is_known_and_nothing_that_was_learned() -> None:
    """Two walks of one engine learn apart."""
    engine = Engine(given_node())
    one, other = Walk(engine, Choices()), Walk(engine, Choices())
    key = NeighbourKey("host", "eth0", ip("10.0.0.1"))
    one.learned.neighbours.heard[key] = Mac("02:00:00:00:00:01")

    assert one.engine is other.engine
    assert {} == other.learned.neighbours.heard
