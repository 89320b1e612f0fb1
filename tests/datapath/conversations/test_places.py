"""Tests of where the ends of a connection are."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.places import (
    UNSEEN,
    ConnectionEnd,
    check_device,
    place_of,
    place_sender,
    send_from,
)
from podpath.datapath.reasons.failures import EndPlace
from podpath.datapath.tracing.trace import Delivered, Transmitted
from podpath.net.addresses import IfName, Mac
from podpath.net.errors import UsageError
from podpath.node.links import Link
from podpath.node.node import Node
from podpath.testing.nodes import given_cilium, given_netns, given_node, given_ovs, probe
from tests.datapath.walks import given_walk, host, packet

ROUTES = (
    "10.2.0.0/16 dev cali7",
    "default via 192.0.2.254 dev eth0",
    "10.8.0.0/16 nexthop dev eth0 nexthop dev eth1",
)
NODE = given_node(
    given_netns(
        "host", "eth0 192.0.2.2/24", "eth1", "cali7 kind veth", "cni0 bridge 10.1.0.1/24",
        "veth1 kind veth master cni0", "lxc1 peer pod:eth0", routes=ROUTES,
    ),
    given_netns("pod", "eth0 10.3.0.2/32 peer host:lxc1"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "netns", "device"),
    [
        ("tcp 10.3.0.2 > 8.8.8.8:80", "pod", None),
        ("tcp 192.0.2.2 > 8.8.8.8:80", "host", None),
        ("tcp 127.0.0.1 > 127.0.0.1:80", "host", None),
        ("tcp 10.3.0.2 > 8.8.8.8:80 from host", "host", None),
        ("tcp 10.2.0.9 > 8.8.8.8:80", "host", "cali7"),
        ("tcp 10.1.0.9 > 8.8.8.8:80", "host", "veth1"),
        ("tcp 203.0.113.9 > 192.0.2.2:80", "host", "eth0"),
        ("tcp 203.0.113.9 > 192.0.2.2:80 in eth1", "host", "eth1"),
        ("tcp 203.0.113.9 > 192.0.2.2:80 in cni0", "host", "veth1"),
        ("tcp 10.3.0.9 > 192.0.2.2:80 in lxc1", "host", "lxc1"),
    ],
)
def test_the_sender_is_found(text: str, netns: str, device: str | None) -> None:
    """A probe starts where it says, else where its source is, else where the host's routes lead
    back to it.
    """
    walk = given_walk(NODE)
    place = place_sender(walk, probe(text))

    assert (netns, device, []) == (
        place.netns,
        place.link.name if place.link else None,
        walk.choices.made,
    )


def test_what_a_bridge_receives_comes_from_the_pod_that_has_the_address() -> None:
    """Its port leads to one; a host elsewhere that answers to the same address would be another."""
    node = given_node(
        given_netns(
            "host", "cni0 bridge 10.1.0.1/24", "veth1 peer pod:eth0 master cni0",
            "veth2 kind veth master cni0",
        ),
        given_netns("pod", "eth0 10.1.0.5/24 peer host:veth1"),
    )  # fmt: skip
    places = [
        place_sender(given_walk(node), probe(f"tcp {src} > 8.8.8.8:80 in cni0"))
        for src in ("10.1.0.5", "10.1.0.6")
    ]

    assert [("pod", None), ("host", "veth2")] == [
        (place.netns, place.link.name if place.link else None) for place in places
    ]


def test_two_ways_back_are_a_choice() -> None:
    """Where several routes lead back the sender may be behind each."""
    walk = given_walk(NODE, 1)

    assert "eth1" == (place_sender(walk, probe("tcp 10.8.0.9 > 192.0.2.2:80")).link or UNSEEN).name


def test_an_address_that_two_namespaces_have() -> None:
    """Where two namespaces have the source the walk forks."""
    node = given_node(*(given_netns(name, "eth0 10.3.0.2/32") for name in ("a", "b")))
    walk = given_walk(node, 1)

    assert ("b", 1) == (
        place_sender(walk, probe("tcp 10.3.0.2 > 8.8.8.8:80")).netns,
        len(walk.choices.made),
    )


@pytest.mark.parametrize(
    "text", ["tcp 10.3.0.2 > 8.8.8.8:80 from nowhere", "tcp 10.3.0.2 > 8.8.8.8:80 in eth9"]
)
def test_a_place_that_the_node_does_not_have_is_refused(text: str) -> None:
    """The message names what there is."""
    with pytest.raises(UsageError, match=r"expected a .*eth0|expected a .*pod"):
        place_sender(given_walk(NODE), probe(text))


def test_a_device_that_a_cut_listing_may_lack_is_believed() -> None:
    """Where the listing is cut a probe may name a device that it does not show."""
    walk = given_walk(given_node(given_netns("host", complete=False)))
    place = place_sender(walk, probe("tcp 10.3.0.2 > 8.8.8.8:80 in lxc9"))

    assert "lxc9" == (place.link.name if place.link else "")


def test_nothing_is_known() -> None:
    """Without any device the sender is behind one that the evidence does not show."""
    walk = given_walk(given_node(given_netns("host")))

    assert UNSEEN is place_sender(walk, probe("tcp 10.3.0.2 > 8.8.8.8:80")).link


def test_pods_of_other_nodes_come_in_through_ciliums_tunnel() -> None:
    """A source that is routed to cilium_host comes in on the tunnel device."""
    node = given_node(
        given_netns("host", "cilium_host", "cilium_vxlan", routes=["10.2.0.0/16 dev cilium_host"]),
        cilium=given_cilium(),
    )
    place = place_sender(given_walk(node), probe("tcp 10.2.0.9 > 10.1.0.2:80"))

    assert "cilium_vxlan" == (place.link.name if place.link else "")


def test_unseen_pods_of_the_node_do_not_come_in_through_ciliums_tunnel() -> None:
    """A source in the range of the node's own pods, which nobody is shown to have, is behind a
    device that is not shown.
    """
    route = "10.2.0.0/16 via 10.2.0.1 dev cilium_host src 10.2.0.1"
    node = given_node(
        given_netns("host", "cilium_host 10.2.0.1/32", "cilium_vxlan", routes=[route]),
        cilium=given_cilium(),
    )
    assert place_sender(given_walk(node), probe("tcp 10.2.0.9 > 10.1.0.2:80")).link is UNSEEN


def placed(netns: str, device: str | None) -> ConnectionEnd:
    """Make a place."""
    walk = given_walk(NODE)
    return ConnectionEnd(netns, host(walk).link(device) if device else None)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("pod", None), ("pod", None), True),
        (("pod", None), ("host", None), False),
        (("host", "eth0"), ("host", "eth1"), True),
        (("host", "eth0"), ("host", "cali7"), False),
        (("host", "cali7"), ("host", "cali7"), True),
        (("host", None), ("host", "eth0"), False),
    ],
)
def test_which_places_may_be_one_host(
    one: tuple[str, str | None],
    other: tuple[str, str | None],
    same: bool,  # noqa: FBT001
) -> None:
    """Two uplinks may lead to one host; two pods' devices do not."""
    assert same == placed(*one).same(placed(*other))


@pytest.mark.parametrize(("carrier", "kind"), [("eth0", "veth"), ("eth1", "")])
def test_what_left_by_a_tunnel_is_behind_it(carrier: str, kind: str) -> None:
    """Whatever device carries a tunnel's packets: on nodes that are containers it is a veth, which
    otherwise leads to one other end.
    """
    shown = given_netns("host", "eth0 192.0.2.2/24 kind veth", "eth1", "flannel.1 vni 1", "cali7")
    walk = given_walk(given_node(shown))
    device, tunnel = (host(walk).link(name) for name in (carrier, "flannel.1"))
    left = ConnectionEnd("host", device, tunnel=tunnel)

    assert kind == device.kind
    assert left.same(ConnectionEnd("host", tunnel))
    assert ConnectionEnd("host", tunnel).same(left)


def test_a_place_is_told_as_an_end() -> None:
    """A place is a process of a namespace, or a host behind a device."""
    assert [EndPlace("pod", None), EndPlace("host", "eth0")] == [
        placed("pod", None).end,
        placed("host", "eth0").end,
    ]


def test_where_a_packet_has_come_to() -> None:
    """A delivered packet is with a process; one that left is with the host that it met, which knows
    the MAC it came from.
    """
    walk = given_walk(NODE)
    sent = packet("10.3.0.2", "8.8.8.8", smac="02:00:00:00:00:01")
    left = place_of(walk, Transmitted(netns="host", link="eth0", packet=sent))

    assert (ConnectionEnd("pod"), "02:00:00:00:00:01") == (
        place_of(walk, Delivered(netns="pod", packet=sent)),
        left.met,
    )


def mac_of(
    node: Node, device: str, sender: str, receiver: str, met: str | None = None
) -> str | None:
    """Return the MAC that a host behind a device sends to."""
    walk = given_walk(node)
    return send_from(
        walk,
        ConnectionEnd("host", host(walk).link(device), Mac(met) if met else None),
        packet(sender, receiver),
    ).packet.dmac


def test_a_host_outside_answers_to_the_mac_that_it_met() -> None:
    """Off a bridge the host outside sends to the MAC it knows, or to the device it reaches."""
    assert ("(MAC of eth0 in host)", "02:00:00:00:00:07") == (
        mac_of(NODE, "eth0", "203.0.113.9", "192.0.2.2"),
        mac_of(NODE, "eth0", "203.0.113.9", "192.0.2.2", "02:00:00:00:00:07"),
    )


@pytest.mark.parametrize(
    ("receiver", "mac"),
    [
        ("10.1.0.1", "(MAC of cni0 in host)"),
        ("10.1.0.7", "(MAC of 10.1.0.7)"),
        ("10.96.0.1", "(MAC of cni0 in host)"),
    ],
)
def test_a_host_on_a_bridge_sends_straight_to_its_neighbours(receiver: str, mac: str) -> None:
    """On its own subnet it sends to the receiver, else to the bridge as its gateway."""
    assert mac == mac_of(NODE, "veth1", "10.1.0.5", receiver)


def test_behind_a_switch_the_host_is_known_by_its_internal_port() -> None:
    """A host behind a slave of Open vSwitch sends to the MAC of the internal port."""
    node = given_node(
        given_netns("host", "mgnt kind openvswitch 10.0.0.1/24", "eth0 master ovs-system"),
        ovs=(given_ovs("br", "mgnt", "eth0"),),
    )

    assert "(MAC of mgnt in host)" == mac_of(node, "eth0", "10.0.0.9", "10.0.0.1")


def test_a_socket_is_bound_to_a_device_that_there_is() -> None:
    """A name that a whole listing lacks is refused, with those that there are."""
    walk = given_walk(NODE)
    pod = ConnectionEnd("pod")

    check_device(walk, pod, "eth0")
    check_device(walk, pod, "")
    with pytest.raises(UsageError, match=r"expected a device of pod .*eth0.*, saw 'net1'"):
        check_device(walk, pod, "net1")
    with pytest.raises(UsageError, match="expected a sender on the node"):
        check_device(walk, place_sender(walk, probe("tcp 10.8.0.9 > 192.0.2.2:80")), "eth0")


@pytest.mark.parametrize(("other", "same"), [("eth0", True), ("out1", True), ("cali7", False)])
def test_an_uplink_that_is_a_veth_may_lead_to_who_is_behind_another(
    other: str,
    *,
    same: bool,
) -> None:
    """The node is a container itself; what a pod's veth leads to is the pod alone."""
    ends = {
        name: ConnectionEnd("host", Link(name=IfName(name), kind=kind, outward=kind == "veth"))
        for name, kind in (("out0", "veth"), ("out1", "veth"), ("eth0", ""))
    }
    ends["cali7"] = placed("host", "cali7")
    assert ends["out0"].same(ends[other]) is same
