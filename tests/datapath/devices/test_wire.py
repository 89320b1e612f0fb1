"""Tests of the edge of the node."""

from __future__ import annotations

from podpath.datapath.devices.wire import leave
from podpath.datapath.reasons.devices import LeftNode
from podpath.datapath.tracing.trace import Transmitted
from podpath.testing.nodes import given_netns, given_node
from tests.datapath.walks import given_skb, given_walk, host, packet


def test_the_packet_that_left_is_told_with_its_device() -> None:
    """What leaves is the packet as it is, and the step names a device that only other facts
    imply.
    """
    walk = given_walk(given_node(given_netns("host", "eth0")))
    skb = given_skb(walk, packet("10.0.0.1", "10.0.0.9"))
    outcomes = [leave(walk, skb, host(walk).link(name)) for name in ("eth0", "eth7")]

    assert [("eth0", None), ("eth7", None)] == [
        (outcome.link, outcome.outer) for outcome in outcomes if isinstance(outcome, Transmitted)
    ]
    assert [LeftNode("eth0"), LeftNode("eth7", "only other facts name it")] == [
        step.reason for step in walk.trace.steps
    ]


def test_the_inner_packet_of_a_tunnel_is_what_the_far_end_sees() -> None:
    """With a packet inside, that one has left, and the outer one stands beside it."""
    walk = given_walk(given_node(given_netns("host", "eth0", "flannel.1 vni 1")))
    inner, outer = packet("10.1.0.1", "10.2.0.1"), packet("192.0.2.2", "192.0.2.9", protocol=17)
    skb = given_skb(walk, outer)
    skb.inner, skb.tunnel = inner, host(walk).link("flannel.1")
    outcome = leave(walk, skb, host(walk).link("eth0"))

    assert isinstance(outcome, Transmitted)
    assert (inner, outer, "flannel.1") == (outcome.packet, outcome.outer, outcome.tunnel)
    rests_on = walk.trace.steps[-1].rests_on
    assert rests_on is not None
    assert rests_on.is_guess
    assert "192.0.2.9" in rests_on.ask
