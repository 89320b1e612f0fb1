"""Repairs of what one node holds of another: each makes the walk arrive."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.causes_between import find_between
from podpath.diagnosis.repairs import list_repairs
from podpath.diagnosis.repairs_between import _over_wire, _through_tunnel, rewrite_tunnel_end
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


def test_the_way_into_a_tunnel_is_found_behind_the_devices_before_it() -> None:
    """Both nodes list other devices first; the hop is the far end's own address."""
    here, there = tunneled(0).host, tunneled(1).host

    assert ["vx via 10.244.1.0"] == [
        f"{hop.link} via {hop.gateway}" for hop in _through_tunnel(here, there)
    ]
    assert [] == list(_through_tunnel(here, tunneled(1, vni=7).host))


def test_a_wire_that_only_one_of_the_nodes_is_on_leads_to_no_other() -> None:
    """The other node's address on the wire that both share is the way."""
    node = Cluster(nodes={"a": routed(0), "b": routed(1)}).seen_from("a")
    (shared,) = [wire for wire in node.wires if wire.prefix is not None]
    near, far = (next(end for end in shared.ends if end.node == name) for name in ("a", "b"))
    alone = shared._replace(ends=(near,))
    wired = replace(node, wires=(alone, *node.wires))
    here, there = (node.namespaces[end.netns] for end in (near, far))

    assert {far.address} == {hop.gateway for hop in _over_wire(wired, here, there)}


def test_a_frame_without_a_mac_names_no_entry_to_rewrite() -> None:
    """What `bridge fdb` would have to replace is not known then."""
    nodes = {"a": with_entry(tunneled(0), "192.0.2.77"), "b": tunneled(1)}
    node = Cluster(nodes=nodes).seen_from("a")
    branch = converse(node, PROBE).branches[0]
    cause = find_between(node, branch, branch.last)
    assert cause is not None
    step = cause.step._replace(before=cause.step.before._replace(dmac=None))

    assert list(rewrite_tunnel_end(node, cause))
    assert [] == list(rewrite_tunnel_end(node, replace(cause, step=step)))
