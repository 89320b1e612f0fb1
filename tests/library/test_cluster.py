"""Several nodes as a caller gives them."""

from __future__ import annotations

import pytest

from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.library.cluster import (
    ClusterQuestion,
    ClusterViews,
    list_absent,
    read_nodes,
    starts_on,
)
from podpath.library.progress import silent
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from tests.clusters import RECORDED, healthy, objects_of_cluster


def test_views_are_made_once() -> None:
    """All nodes as one sees them, with its own names."""
    views = ClusterViews(healthy())
    view = views.view_of("node2")

    assert views.view_of("node2") is view
    assert "node1/host" in view.case.node.namespaces


def test_views_share_what_they_see_of_a_node() -> None:
    """Every view of many nodes holds the same namespaces of another, and none of its own."""
    nodes = healthy() | {"node3": healthy()["node2"]}
    views = ClusterViews(nodes)
    first, second = (views.view_of(name).case.node.namespaces for name in ("node1", "node2"))

    shared = [name for name in first if name.startswith("node3/")]
    assert "node3/host" in shared
    assert all(first[name] is second[name] for name in shared)


@pytest.mark.parametrize(
    ("probe", "node"),
    [
        ("tcp 10.244.0.3 > 10.244.1.2:80", "node2"),
        ("tcp 10.244.1.2 > 10.244.0.3:80", "node1"),
        ("tcp 198.51.100.7 > 10.199.0.12:30180", "node2"),
        ("tcp 198.51.100.7 > 198.51.100.8:80", "node1"),
    ],
)
def test_where_a_connection_starts(probe: str, node: str) -> None:
    """By the address that sends, else by the one it goes to."""
    assert starts_on(ClusterViews(healthy()).view_of("node1"), Probe.parse(probe)) == node


def test_nodes_that_are_not_given() -> None:
    """By the pods and the endpoints that are named."""
    shared = objects_of_cluster()

    def ask(source: str, destination: str) -> set[str]:
        return set(list_absent(ClusterQuestion(source, destination), ("node1",), shared))

    assert ask("outside", "svc/shop/far:http") == {"node2"}
    assert ask("shop/web-node1", "pod/shop/api-node1") == set()
    pods = [each for _, reading in shared.readings for each in reading.of(ApiObjectRecord)]
    (far,) = [each for each in pods if (each.kind, each.name) == ("Pod", "far")]
    name = far.tree.items_at("spec", "containers")[0].text_at("name")
    assert "node2" in ask("outside", f"container/{name}:80")


def test_evidence_of_two_nodes_for_one() -> None:
    """It is refused."""
    both = (str(RECORDED / "node1.tar.gz"), str(RECORDED / "node2.tar.gz"))

    with pytest.raises(UsageError, match="expected evidence of one node for x"):
        read_nodes({"x": both}, None, (), silent)
