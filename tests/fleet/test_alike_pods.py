"""Which pods a node treats alike, and what sets one apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from bench.converse import assemble_node
from podpath.net.addresses import Address, IfName, Mac, Prefix
from podpath.net.provenance import Known, Listing
from podpath.node.links import Neighbour
from podpath.node.netfilter import ConntrackEntry, ConnTuple, IpSet, SetMember
from podpath.node.node import HOST, Node
from podpath.node.routing import Nexthop, Route
from podpath_fleet.alike_pods import list_alike_pods, mentions, rename

PODS = [Address.parse(f"10.244.250.{number}") for number in (4, 5, 6, 7)]
ALL = ["pod", "pod1", "pod2", "pod3"]
RULES = """*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:PODS - [0:0]
-A FORWARD -s 10.244.0.0/16 -j ACCEPT
-A FORWARD -j PODS
{rule}
COMMIT
"""


def build(*rules: str) -> Node:
    """Return a node with four pods on a bridge and some rules more."""
    return assemble_node(RULES.format(rule="\n".join(rules)), PODS)


def change_host(node: Node, **parts: object) -> Node:
    """Return the node with other facts of the host."""
    return replace(node, namespaces={**node.namespaces, HOST: replace(node.host, **parts)})  # type: ignore[arg-type]  # any field


def change_pod(node: Node, name: str, **parts: object) -> Node:
    """Return the node with other facts of a pod."""
    pod = replace(node.namespaces[name], **parts)  # type: ignore[arg-type]  # any field
    return replace(node, namespaces={**node.namespaces, name: pod})


def list_names(node: Node) -> list[list[str]]:
    """Return the groups by the pods' names."""
    return [[pod.netns for pod in group.pods] for group in list_alike_pods(node, 4)]


def test_pods_that_differ_by_names_alone_are_alike() -> None:
    """Four pods on one bridge, with the same rules for all."""
    (group,) = list_alike_pods(build(), 4)

    assert [pod.netns for pod in group.pods] == ALL
    assert [pod.address for pod in group.pods] == PODS
    assert {"pod2", "veth6", "10.244.250.6"} <= group.names
    assert group.entries == frozenset()


@pytest.mark.parametrize(
    "rule",
    [
        "-A FORWARD -s 10.244.250.6/32 -j DROP",
        "-A FORWARD -i veth6 -j DROP",
        "-A FORWARD -m physdev --physdev-out veth6 -j DROP",
        "-A FORWARD -m iprange --src-range 10.244.250.6-10.244.250.6 -j DROP",
        "-A FORWARD -d 198.51.100.1/32 -j DNAT --to-destination 10.244.250.6:80",
        "-A FORWARD -i veth6+ -j DROP",
    ],
)
def test_a_rule_for_one_of_them_sets_it_apart(rule: str) -> None:
    """It stands in a base chain, so that every packet is asked about it."""
    assert list_names(build(rule)) == [["pod", "pod1", "pod3"]]


@pytest.mark.parametrize(
    ("rule", "groups"),
    [
        ("-A FORWARD -s 10.244.250.4/31 -j DROP", [["pod", "pod1"], ["pod2", "pod3"]]),
        (
            "-A FORWARD -m iprange --src-range 10.244.250.1-10.244.250.5 -j DROP",
            [["pod", "pod1"], ["pod2", "pod3"]],
        ),
        ("-A FORWARD -s 10.244.250.0/24 -j DROP", [ALL]),
        ("-A FORWARD -i veth+ -j DROP", [ALL]),
    ],
)
def test_a_range_parts_those_within_from_those_without(rule: str, groups: list[list[str]]) -> None:
    """A range that holds all of them parts none."""
    assert list_names(build(rule)) == groups


def test_an_odd_mask_is_not_looked_through() -> None:
    """Addresses that it holds are no range."""
    assert list_names(build("-A FORWARD -s 10.0.250.4/255.0.255.254 -j DROP")) == []


def test_a_rule_in_a_chain_of_its_own_is_kept_as_an_entry() -> None:
    """Only a packet that is led there meets it."""
    (group,) = list_alike_pods(build("-A PODS -s 10.244.250.6/32 -j DROP"), 4)

    assert [pod.netns for pod in group.pods] == ALL
    assert [(one.chain, one.position) for one in group.entries] == [("FORWARD", 2)]


def with_sysctl(node: Node) -> Node:
    """Turn a pod's reverse-path filter on."""
    sysctls = {**node.namespaces["pod2"].sysctls, "net.ipv4.conf.all.rp_filter": Known("1")}
    return change_pod(node, "pod2", sysctls=sysctls)


def without_default(node: Node) -> Node:
    """Take a pod's default route away."""
    routes = node.namespaces["pod2"].routes
    return change_pod(node, "pod2", routes=routes._replace(items=routes.items[1:]))


def with_blackhole(node: Node) -> Node:
    """Give the host a route to one pod that leads nowhere."""
    lost = Route(prefix=Prefix.of(PODS[2]), type="blackhole")
    return change_host(node, routes=Listing((*node.host.routes.items, lost), True, "ip route"))


def with_neighbour(node: Node) -> Node:
    """Let the host know one pod by a MAC."""
    known = Neighbour(address=PODS[2], link=IfName("cni0"), mac=Mac("02:00:00:00:00:09"))
    return change_host(node, neighbours=Listing((known,), False, "ip neigh"))


def with_device_sysctl(node: Node) -> Node:
    """Set up the host's end of one pod otherwise."""
    sysctls = {**node.host.sysctls, "net.ipv4.conf.veth6.forwarding": Known("0")}
    return change_host(node, sysctls=sysctls)


def with_member(node: Node) -> Node:
    """Put one pod into a set of addresses."""
    members = (SetMember(("10.244.250.6",)),)
    one = IpSet(name="barred", type="hash:ip", family=4, members=members)
    netfilter = replace(node.host.netfilter[4], sets={"barred": one})
    return change_host(node, netfilter={4: netfilter})


def with_connection(node: Node, there: Address) -> Node:
    """Let one pod have a connection."""
    entry = ConntrackEntry(
        ConnTuple(PODS[2], there, 6, 40000, 80), ConnTuple(there, PODS[2], 6, 80, 40000)
    )
    return change_host(node, conntrack=Listing((entry,), True, "conntrack -L"))


def with_connection_to_itself(node: Node) -> Node:
    """Let one pod have a connection with itself."""
    return with_connection(node, PODS[2])


@pytest.mark.parametrize(
    "disturb",
    [
        with_sysctl,
        without_default,
        with_blackhole,
        with_neighbour,
        with_device_sysctl,
        with_member,
        with_connection_to_itself,
    ],
)
def test_a_fact_of_one_pod_sets_it_apart(disturb: Callable[[Node], Node]) -> None:
    """In its own namespace or on the host, whatever kind of fact it is."""
    assert list_names(disturb(build())) == [["pod", "pod1", "pod3"]]


def test_what_the_host_knows_of_each_pod_in_its_own_way_is_the_same() -> None:
    """Host routes and neighbors of all, in an order that is no pod's: a routed plugin's."""
    node = build()
    routes = [
        Route(prefix=Prefix.of(own), nexthops=(Nexthop(link=IfName(f"veth{own.value & 255}")),))
        for own in reversed(PODS)
    ]
    known = [
        Neighbour(address=own, link=IfName("cni0"), mac=Mac(f"02:00:00:00:00:0{own.value & 255}"))
        for own in PODS
    ]
    same = [replace(one, mac=Mac("02:00:00:00:00:0f")) for one in known]
    routed = Listing((*node.host.routes.items, *routes), True, "ip route")

    assert list_names(change_host(node, routes=routed)) == [ALL]
    assert list_names(change_host(node, neighbours=Listing(tuple(same), True, "ip neigh"))) == [ALL]
    assert list_names(change_host(node, neighbours=Listing(tuple(known), True, "ip neigh"))) == []


def test_a_connection_leaves_a_pod_alike_but_for_its_peer() -> None:
    """A packet meets its entry only between the same addresses; one between two of the pods sets
    both apart.
    """
    outside = Address.parse("198.51.100.1")
    (group,) = list_alike_pods(with_connection(build(), outside), 4)

    assert [pod.netns for pod in group.pods] == ALL
    assert group.peers == {outside.value}
    assert list_names(with_connection(build(), PODS[3])) == [["pod", "pod1"]]


def test_pods_that_know_each_other_are_apart() -> None:
    """One has the other among its neighbors: to exchange it with a third one changes that."""
    known = Neighbour(address=PODS[3], link=IfName("eth0"), mac=Mac("02:00:00:00:00:09"))
    node = change_pod(build(), "pod2", neighbours=Listing((known,), True, "ip neigh"))

    assert list_names(node) == [["pod", "pod1"]]


def test_two_pods_of_one_address_are_apart() -> None:
    """Who of them has it is a matter of order."""
    node = build()
    twin = replace(node.namespaces["pod3"], addresses=node.namespaces["pod2"].addresses)
    node = replace(node, namespaces={**node.namespaces, "pod3": twin})

    assert list_names(node) == [["pod", "pod1"]]


@pytest.mark.parametrize(
    "text",
    [
        "-A FORWARD -s 10.244.250.6/32 -j DROP",
        "DNAT --to 10.244.250.6:80",
        "net.ipv4.conf.veth6.rp_filter = 1",
        "delivered in pod2",
        "in the network namespace of pod2: ip -d link show",
    ],
)
def test_a_name_is_found_as_a_word_or_an_address(text: str) -> None:
    """Whatever stands beside it."""
    assert mentions(text, frozenset({"pod2", "veth6", "10.244.250.6"}))


def test_a_name_is_replaced_as_a_word() -> None:
    """A longer word that begins with it, or ends in it, stays."""
    assert rename("of pod2: pod21 a-pod2 pod2", "pod2", "web") == "of web: pod21 a-pod2 web"


def test_a_longer_word_that_begins_with_a_name_is_another_one() -> None:
    """Neither `pod21` nor 10.244.250.61 is the pod."""
    text = "delivered in pod21 by veth61, 10.244.250.61"

    assert not mentions(text, frozenset({"pod2", "veth6", "10.244.250.6"}))
