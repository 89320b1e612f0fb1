"""Nodes whose ranges of pods overlap."""

from __future__ import annotations

import pytest

from podpath.checks.between.pod_ranges_overlap import check
from podpath.testing.nodes import given_netns, given_node
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
