"""Nodes whose ranges of pods overlap."""

from __future__ import annotations

import pytest

from podpath.checks.between.pod_ranges_overlap import NAME, check
from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.causes import find_cause
from podpath.node.cluster import Cluster
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node, probe
from tests.checks.api import case_with, node_object, pod_object

PLAIN = given_node(given_netns("host", "eth0 192.0.2.1/24"))


@pytest.mark.parametrize("other", ["10.244.1.0/24", "10.244.1.128/25", "10.244.0.0/16"])
def test_ranges_that_overlap(other: str) -> None:
    """It is possible as long as nothing shows that pods get addresses by the ranges."""
    nodes = (node_object("a", "192.0.2.1", "10.244.1.0/24"), node_object("b", "192.0.2.2", other))
    (found,) = check(case_with(PLAIN, *nodes))

    assert found.certainty < 1
    assert [span.text.strip() for span in found.evidence] == [
        "spec: {podCIDRs: [10.244.1.0/24]}",
        f"spec: {{podCIDRs: [{other}]}}",
    ]


def test_pods_that_live_in_them() -> None:
    """Where pods of both nodes have addresses of the ranges, it is certain."""
    nodes = (
        node_object("a", "192.0.2.1", "10.244.1.0/24"),
        node_object("b", "192.0.2.2", "10.244.1.0/24"),
    )
    pods = (pod_object("x", "a", "10.244.1.2"), pod_object("y", "b", "10.244.1.3"))
    (found,) = check(case_with(PLAIN, *nodes, *pods))

    assert found.certainty == 1.0
    assert found.claim == "The pod ranges of a (10.244.1.0/24) and b (10.244.1.0/24) overlap."


def test_ranges_apart() -> None:
    """Nothing is said; nor of the two families of one node."""
    nodes = (
        node_object("a", "192.0.2.1", "10.244.1.0/24, fd00:1::/64"),
        node_object("b", "192.0.2.2", "10.244.2.0/24, fd00:2::/64"),
    )

    assert list(check(case_with(PLAIN, *nodes))) == []


def bridged(number: int, pod: str, *more: str, pods: str = "10.244.1.0/24") -> Node:
    """Return a node whose pods are on a bridge, with a range for them."""
    gateway = f"{pod.rpartition('.')[0]}.1"
    host = given_netns(
        "host",
        f"eth0 192.0.2.{number}/24",
        "cni0 kind bridge",
        "v1 master cni0 peer pod:eth0",
        *more,
        routes=[f"{pods} dev cni0"],
        sysctls=forwarding(rp_filter="0"),
    )
    inside = given_netns(
        "pod", f"eth0 {pod}/24 peer host:v1", routes=[f"default via {gateway} dev eth0"]
    )
    return given_node(host, inside)


def named(here: Node, there: Node) -> tuple[str, list[str]]:
    """Walk from the pod of one node to that of another; return what breaks it, with the lines."""
    node = Cluster(nodes={"a": here, "b": there}).seen_from("a")
    cause = find_cause(
        node, converse(node, probe("tcp 10.244.1.2 > 10.244.1.3:80 from pod")).branches[0]
    )
    assert cause is not None
    return cause.check, [span.text for span in cause.step.spans]


@pytest.mark.parametrize("pods", ["10.244.1.0/24", "10.244.1.0/25", "10.244.0.0/16"])
def test_a_pod_that_the_senders_node_takes_for_its_own(pods: str) -> None:
    """Both nodes' routes are quoted, that of the node that sends first."""
    found = named(bridged(1, "10.244.1.2"), bridged(2, "10.244.1.3", pods=pods))

    assert found == (NAME, ["10.244.1.0/24 dev cni0", f"{pods} dev cni0"])


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (bridged(1, "10.244.1.2"), bridged(2, "10.244.1.3", pods="10.244.2.0/24")),
        (
            bridged(1, "10.244.1.2", "vx0 vni 1 master cni0"),
            bridged(2, "10.244.1.3", "vx0 vni 1 master cni0"),
        ),
    ],
)
def test_a_pod_that_is_missed_for_another_reason(here: Node, there: Node) -> None:
    """A pod outside its node's range, and a bridge that a tunnel stretches over both nodes."""
    assert named(here, there)[0] != NAME
