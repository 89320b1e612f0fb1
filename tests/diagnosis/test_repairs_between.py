"""Repairs of what one node holds of another: each makes the walk arrive."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.causes_between import find_between
from podpath.diagnosis.repairs import list_repairs
from podpath.node.alteration import apply_changes
from podpath.node.cluster import Cluster
from podpath.node.node import Node
from podpath.testing.nodes import probe
from tests.datapath.devices.test_underlay import PROBE, routed, tunneled
from tests.diagnosis.nodes_between import with_entry, with_neighbour

AWAY = "default via 192.0.2.254 dev eth0"


@pytest.mark.parametrize(
    ("here", "there", "command"),
    [
        (
            routed(0, AWAY),
            routed(1),
            "ip route replace 10.244.1.0/24 via 192.0.2.2 dev eth0",
        ),
        (routed(0, uplink="eth0 mtu 1400"), routed(1), "ip link set dev eth0 mtu 1500"),
        (
            with_neighbour(tunneled(0)),
            tunneled(1),
            "ip neigh replace 10.244.1.0 lladdr 02:00:00:00:0f:01 dev vx nud permanent",
        ),
        (
            with_entry(tunneled(0), "192.0.2.77"),
            tunneled(1),
            "bridge fdb replace 02:00:00:00:0f:01 dev vx dst 192.0.2.2",
        ),
        (tunneled(0), tunneled(1, vni=7), "ip link del vx"),
    ],
)
def test_the_cure_delivers(here: Node, there: Node, command: str) -> None:
    """The command is what the change does, on the node that holds it wrong."""
    node = Cluster(nodes={"a": here, "b": there}).seen_from("a")
    branch = converse(node, PROBE).branches[0]
    cause = find_between(node, branch, branch.last)
    assert cause is not None

    first = next(iter(list_repairs(node, cause)))

    assert first.commands[0] == command
    assert converse(apply_changes(node, first.changes), PROBE).verdict == "ALWAYS"


def test_a_tunnel_that_is_made_anew_keeps_what_stood_on_it() -> None:
    """Its MAC, which others know, its addresses, entries and routes are part of the commands."""
    nodes = {"a": tunneled(0), "b": tunneled(1, vni=7)}
    node = Cluster(nodes=nodes).seen_from("b")
    back = probe("tcp 10.244.1.2 > 10.244.0.2:80 from pod")
    branch = converse(node, back).branches[0]
    cause = find_between(node, branch, branch.last)
    assert cause is not None

    commands = next(iter(list_repairs(node, cause))).commands

    assert commands[0] == "ip link del vx"
    assert "type vxlan id " in commands[1]
    assert any(command.startswith("bridge fdb append ") for command in commands)
    assert any(command.startswith("ip route replace ") for command in commands)
