"""Tests of the packet under way and the branch of a walk."""

from __future__ import annotations

from podpath.datapath.reasons.devices import LinkDown
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk.skb import Walk
from podpath.testing.nodes import given_node
from tests.datapath.walks import given_skb, packet


def test_a_walk_has_an_engine_of_its_own_unless_one_is_shared() -> None:
    """Walks of one node may share what was worked out for it."""
    node = given_node()
    one, other = Walk(node, Choices()), Walk(node, Choices())

    assert one.engine is not other.engine
    assert one.engine is Walk(node, Choices(), engine=one.engine).engine


def test_a_step_holds_the_packet_before_and_after() -> None:
    """A step is recorded with the packet as it was and as it is."""
    walk = Walk(given_node(), Choices())
    before = packet("10.0.0.1", "10.0.0.2")
    skb = given_skb(walk, before._replace(ttl=63))
    walk.step("forward", skb, "f", before, "forward", LinkDown("eth0"), link="eth0")

    assert [("forward", "host", 64, 63, "forward", LinkDown("eth0"), "eth0")] == [
        (
            step.stage,
            step.netns,
            step.before.ttl,
            step.after.ttl,
            step.decision,
            step.reason,
            step.link,
        )
        for step in walk.steps
    ]


def test_each_packet_has_a_draw_of_its_own() -> None:
    """What the kernel draws for each packet has one name for the packet that it is first drawn for,
    and others later.
    """
    walk = Walk(given_node(), Choices())
    names = []
    for walk.packets in (2, 2, 4):
        names.append(walk.drawn_for_packet("statistic"))
    assert names == ["statistic", "statistic", "statistic, 2 packets later"]
