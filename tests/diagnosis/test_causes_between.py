"""What a walk over several nodes shows to be wrong between them."""

from __future__ import annotations

import pytest

from podpath.checks.between import mtu_shrinks, pod_route, tunnel_end, tunnel_mac, tunnel_network
from podpath.checks.tunnels import vtep_mac_twice, vxlan_outer
from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.causes import find_cause
from podpath.diagnosis.causes_between import find_between
from podpath.node.cluster import Cluster
from podpath.node.node import Node
from tests.datapath.devices.test_underlay import PROBE, masqueraded, routed, tunneled
from tests.diagnosis.nodes_between import as_clone, with_entry, with_neighbour


@pytest.mark.parametrize(
    ("here", "there", "check", "netns"),
    [
        (routed(0, "default via 192.0.2.254 dev eth0"), routed(1), pod_route.NAME, "host"),
        (routed(0), routed(1, uplink="eth0 mtu 1400"), mtu_shrinks.NAME, "b/host"),
        (tunneled(0), tunneled(1, vni=7), tunnel_network.NAME, "b/host"),
        (tunneled(0), tunneled(1, state="down"), tunnel_network.NAME, "b/host"),
        (with_neighbour(tunneled(0)), tunneled(1), tunnel_mac.NAME, "host"),
        (with_entry(tunneled(0), "192.0.2.77"), tunneled(1), tunnel_end.NAME, "host"),
        (
            as_clone(tunneled(0), "192.0.2.2"),
            as_clone(tunneled(1), "192.0.2.1"),
            vtep_mac_twice.NAME,
            "b/host",
        ),
    ],
)
def test_the_step_that_made_it_fail_is_named(
    here: Node, there: Node, check: str, netns: str
) -> None:
    """It may stand on the node that sends, though the packet ends on the other."""
    node = Cluster(nodes={"a": here, "b": there}).seen_from("a")
    branch = converse(node, PROBE).branches[0]

    cause = find_between(node, branch, branch.last)

    assert cause is not None
    assert (cause.check, cause.step.netns) == (check, netns)


def test_a_translated_outer_packet_is_named_where_its_checksum_is_refused() -> None:
    """It is the tunnel's checksum, and no missing route, that loses it."""
    here = masqueraded(tunneled(0), checksum=True)
    node = Cluster(nodes={"a": here, "b": tunneled(1)}).seen_from("a")

    cause = find_cause(node, converse(node, PROBE).branches[0])

    assert cause is not None
    assert (cause.check, cause.step.netns) == (vxlan_outer.NAME, "b/host")
    assert cause.step.spans


def test_what_one_node_does_by_itself_is_nothing_between_them() -> None:
    """A connection that works has no cause."""
    node = Cluster(nodes={"a": routed(0), "b": routed(1)}).seen_from("a")
    branch = converse(node, PROBE).branches[0]

    assert find_between(node, branch, branch.traces[0]) is None
