"""Pods outside the range that other nodes route to their node."""

from __future__ import annotations

from podpath.checks.between.pod_range import check
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node
from tests.checks.api import case_with, node_object, pod_object

NODES = (
    node_object("node", "192.0.2.1", "10.244.0.0/24"),
    node_object("far", "192.0.2.2", "10.244.1.0/24"),
)
ROUTE = "10.244.1.0/24 via 192.0.2.2 dev eth0"


def host(*routes: str) -> Node:
    """Return a node with routes to others."""
    return given_node(given_netns("host", "eth0 192.0.2.1/24", routes=routes))


def test_a_pod_outside_its_nodes_range() -> None:
    """The routes go by the ranges, so it is certain; the pod's address is quoted first."""
    (found,) = check(case_with(host(ROUTE), *NODES, pod_object("api", "far", "10.244.7.3")))

    assert found.certainty == 1.0
    assert "10.244.7.3" in found.evidence[0].text
    assert found.evidence[2].text == ROUTE
    assert "Pod shop/api has the address 10.244.7.3, outside 10.244.1.0/24" in str(found.claim)


def test_a_pod_whose_specification_is_not_shown_is_possible() -> None:
    """A table of pods does not say that one is on its node's network, whose address may be
    anything.
    """
    pod = pod_object("api", "far", "10.244.7.3").replace(", containers: [{name: api}]", "")
    (found,) = check(case_with(host(ROUTE), *NODES, pod))

    assert found.certainty < 1
    assert "network" in found.asks[0].fact


def test_a_pod_of_this_node_is_possible() -> None:
    """Other nodes' routes are not this node's evidence."""
    (found,) = check(case_with(host(ROUTE), *NODES, pod_object("api", "node", "10.244.7.3")))

    assert found.certainty < 1
    assert "on node" in found.asks[0].command


def test_an_address_that_the_routes_take_to_another_node() -> None:
    """A pod with an address of a third node's range is sent there."""
    nodes = (*NODES, node_object("third", "192.0.2.3", "10.244.2.0/24"))
    routes = (ROUTE, "10.244.2.0/24 via 192.0.2.3 dev eth0")
    (found,) = check(case_with(host(*routes), *nodes, pod_object("api", "far", "10.244.2.9")))

    assert found.certainty == 1.0


def test_what_is_in_order() -> None:
    """Pods within their range, on the host's network, with a route of their own, and clusters whose
    routes do not follow the ranges.
    """
    outside = pod_object("api", "far", "10.244.7.3")
    special = "10.244.7.0/24 via 192.0.2.2 dev eth0"
    pooled = "10.244.1.0/24 via 192.0.2.2 dev eth0 proto bird"

    for node, pod in (
        (host(ROUTE), pod_object("api", "far", "10.244.1.3")),
        (host(ROUTE), pod_object("api", "far", "192.0.2.2", ", hostNetwork: true")),
        (host(ROUTE), pod_object("api", "far", "192.0.2.2")),
        (host(ROUTE), outside.replace("Running", "Succeeded")),
        (host(ROUTE, special), outside),
        (host(pooled), outside),
        (host(), outside),
    ):
        assert list(check(case_with(node, *NODES, pod))) == []
