"""Tests of the driver."""

from __future__ import annotations

from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.stages.driver import drive
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.trace import Delivered, Rejected, Undecided
from podpath.datapath.vocabulary import BoundaryName
from podpath.testing.nodes import forwarding, given_netns, given_node
from tests.datapath.walks import given_skb, given_walk, packet


def test_a_packet_goes_from_path_to_path() -> None:
    """A packet for the host is received and delivered."""
    walk = given_walk(given_node(given_netns("host", "eth0 192.0.2.2/24")))
    outcome = drive(walk, given_skb(walk, packet("192.0.2.9", "192.0.2.2"), "eth0"), paths.RECEIVE)

    assert isinstance(outcome, Delivered)
    assert ["device receive", "route input", "socket"] == [step.stage for step in walk.trace.steps]


def test_a_routing_loop_ends_with_the_ttl() -> None:
    """Two namespaces that send a packet to each other do so until its TTL ends."""
    node = given_node(
        given_netns(
            "host",
            "a 10.0.0.1/24 peer other:b",
            routes=["default via 10.0.0.2 dev a"],
            sysctls=forwarding(rp_filter="0"),
        ),
        given_netns(
            "other",
            "b 10.0.0.2/24 peer host:a",
            routes=["default via 10.0.0.1 dev b"],
            sysctls=forwarding(rp_filter="0"),
        ),
    )
    walk = given_walk(node)
    outcome = drive(walk, given_skb(walk, packet("203.0.113.5", "8.8.8.8"), "a"), paths.RECEIVE)

    assert "icmp-ttl-exceeded" == (outcome.answer if isinstance(outcome, Rejected) else "")


def test_a_frame_in_a_ring_of_bridges_is_undecided() -> None:
    """A frame that bridges hand round for ever ends as undecided."""
    ring = (
        "a peer host:b master br0",
        "b peer host:a master br1",
        "c peer host:d master br1",
        "d peer host:c master br0",
    )
    devices = ("br0 bridge 10.0.0.1/24", "br1 bridge", *ring)
    entries = [
        "10.0.0.9 dev br0 lladdr 02:00:00:00:00:99 PERMANENT",
        "02:00:00:00:00:99 dev a master br0",
        "02:00:00:00:00:99 dev c master br1",
    ]
    node = given_node(given_netns("host", *devices, neighbours=entries[:1], fdb=entries[1:]))
    walk = given_walk(node)
    outcome = drive(walk, given_skb(walk, packet("10.0.0.1", "10.0.0.9")), paths.OUTPUT)

    assert BoundaryMet(BoundaryName.CIRCLE) == (
        outcome.reason if isinstance(outcome, Undecided) else outcome
    )
