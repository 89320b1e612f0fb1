"""Tests of layer 2 segments: who hears a frame."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.devices.segment import bridge_over, ingress_vlan, is_bridge, survey, why_held
from podpath.datapath.reasons.bridges import HairpinOff, Hold, NotInVlan, PortDown, PortState
from podpath.node.links import Link
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node, given_ovs
from tests.datapath.walks import given_walk, host


def heard(
    node: Node, netns: str, device: str, *, arriving: bool = False
) -> tuple[set[str], set[str]]:
    """Return stations and exits, as `netns/device`."""
    walk = given_walk(node)
    found = survey(walk, netns, walk.engine.namespace(netns).link(device), arriving=arriving)
    return {f"{item.netns}/{item.link.name}" for item in found.stations}, {
        f"{item.netns}/{item.link.name}" for item in found.exits
    }


BRIDGED = given_node(
    given_netns(
        "host", "cni0 bridge 10.1.0.1/24", "veth1 peer pod1:eth0 master cni0",
        "veth2 peer pod2:eth0 master cni0", "veth3 kind veth master cni0", "eth0",
    ),
    given_netns("pod1", "eth0 peer host:veth1"), given_netns("pod2", "eth0 peer host:veth2"),
)  # fmt: skip


def test_a_pod_on_a_bridge_reaches_the_bridge_the_other_pods_and_unknown_ports() -> None:
    """A frame of a pod is heard by the bridge device and behind every other port; a port without
    known peer leads out.
    """
    assert ({"host/cni0", "pod2/eth0"}, {"host/veth3"}) == heard(BRIDGED, "pod1", "eth0")


def test_the_bridge_itself_reaches_all_ports() -> None:
    """What the host sends on the bridge is heard behind every port, and not by itself."""
    assert ({"pod1/eth0", "pod2/eth0"}, {"host/veth3"}) == heard(BRIDGED, "host", "cni0")


def test_hardware_leads_out() -> None:
    """A device without a peer leads out of the node, `lo` nowhere."""
    assert (set(), {"host/eth0"}) == heard(BRIDGED, "host", "eth0")
    assert (set(), set()) == heard(BRIDGED, "host", "lo")


def test_what_comes_in_from_outside_is_heard_on_the_bridge() -> None:
    """A host behind a port reaches the bridge and the other ports, not its own."""
    assert ({"host/cni0", "pod1/eth0", "pod2/eth0"}, set()) == heard(
        BRIDGED, "host", "veth3", arriving=True
    )


def test_a_frame_stops_at_ports_that_do_not_pass_it() -> None:
    """Ports that are down, blocked, isolated from each other or in another VLAN are not reached."""
    node = given_node(
        given_netns(
            "host", "br0 bridge filtering", "p1 peer a:eth0 master br0 isolated pvid 10",
            "p2 peer b:eth0 master br0 isolated pvid 10",
            "p3 peer c:eth0 master br0 state blocking pvid 10", "p4 peer d:eth0 master br0 pvid 20",
            "p5 peer e:eth0 master br0 pvid 10",
        ),
        *(given_netns(name, f"eth0 peer host:p{number}") for number, name in enumerate("abcde", 1)),
    )  # fmt: skip

    assert ({"host/br0", "e/eth0"}, set()) == heard(node, "a", "eth0")


def test_slaves_hand_on_to_their_bond() -> None:
    """What comes in on a slave is for its bond."""
    node = given_node(given_netns("host", "bond0 kind bond", "eth0 master bond0"))

    assert ({"host/bond0"}, set()) == heard(node, "host", "eth0", arriving=True)


def test_open_vswitch_joins_internal_ports_and_uplinks() -> None:
    """An internal port reaches the other internal ports and the wire; a slave's frames reach the
    internal ports.
    """
    devices = (
        "mgnt kind openvswitch 10.0.0.1/24",
        "br kind openvswitch 10.0.1.1/24",
        "eth0 master ovs-system",
        "eth1 slave bond1",
    )
    node = given_node(
        given_netns("host", *devices),
        ovs=(given_ovs("br", "br", "mgnt", "bond1: eth0 eth1", active="eth1"),),
    )

    assert ({"host/br"}, {"host/eth1"}) == heard(node, "host", "mgnt")
    assert ({"host/br", "host/mgnt"}, set()) == heard(node, "host", "eth0", arriving=True)


def test_a_ring_of_bridges_ends() -> None:
    """Two bridges joined by two veth pairs are searched once each."""
    node = given_node(
        given_netns(
            "host",
            "br0 bridge",
            "a peer host:b master br0",
            "b peer host:a master br1",
            "br1 bridge",
            "c peer host:d master br1",
            "d peer host:c master br0",
        )
    )

    assert ({"host/br1", "host/br0"}, set()) == heard(node, "host", "br0")


@pytest.mark.parametrize(
    ("port", "why"),
    [
        ("p0 master br0", HairpinOff("p0")),
        ("p0 master br0 hairpin", None),
        ("p1 master br0", None),
        ("p1 master br0 down", PortDown("p1")),
        ("p1 master br0 state blocking", PortState("p1", "blocking")),
        ("p1 master br0 pvid 20", NotInVlan("p1", 1)),
    ],
)
def test_why_a_port_is_not_reached(port: str, why: Hold | None) -> None:
    """A bridge says why it does not let a frame out of a port."""
    walk = given_walk(
        given_node(
            given_netns(
                "host",
                "br0 bridge filtering",
                "p0 master br0" if port[1] != "0" else port,
                *([port] if port[1] != "0" else []),
            )
        )
    )
    bridge, source, out = (host(walk).link(name) for name in ("br0", "p0", port[:2]))

    assert why == why_held(bridge, source, out, 1)


def test_what_a_bridge_is() -> None:
    """A bridge is known by its kind or its attributes, or as the unlisted master of a port that has
    bridge attributes.
    """
    walk = given_walk(
        given_node(given_netns("host", "br0 bridge", "p0 master br0", "p1 master br9", "eth0"))
    )
    links = {name: host(walk).link(name) for name in ("br0", "p0", "p1", "eth0")}

    def over(name: str) -> str | None:
        found: Link | None = bridge_over(host(walk), links[name])
        return found.name if found is not None else None

    assert (True, False) == (is_bridge(links["br0"]), is_bridge(links["p0"]))
    assert ("br0", "br9", None) == (over("p0"), over("p1"), over("eth0"))
    assert (None, None) == (
        ingress_vlan(links["br0"], links["p0"]),
        ingress_vlan(links["eth0"], links["p0"]),
    )


@pytest.mark.parametrize(("complete", "exits"), [(True, set()), (False, {"host/vx"})])
def test_a_tunnel_that_knows_no_end_sends_nothing_out(*, complete: bool, exits: set[str]) -> None:
    """Where its forwarding entries are all listed; else there may be one."""
    node = given_node(given_netns("host", "vx vni 1"))
    fdb = node.host.fdb._replace(complete=complete)
    node = given_node(replace(node.host, fdb=fdb))

    assert (set(), exits) == heard(node, "host", "vx")
