"""Tests of `sources.kinds`: paths and rules of kinds, and what is kept of an object."""

from __future__ import annotations

from podpath.sources.kinds import KINDS, SLICES, keep_all, keep_node


def test_paths_are_the_newest_first_and_within_a_namespace() -> None:
    """Cluster-wide kinds are in no namespace."""
    assert SLICES.paths("shop") == (
        "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices",
        "/apis/discovery.k8s.io/v1beta1/namespaces/shop/endpointslices",
    )
    nodes = next(kind for kind in KINDS if kind.resource == "nodes")
    assert nodes.paths("shop") == ("/api/v1/nodes",)


def test_bookkeeping_is_left_out() -> None:
    """An object without annotations stays without."""
    item = {"metadata": {"name": "a", "managedFields": [1]}, "spec": {"x": 1}}
    assert keep_all(item) == {"metadata": {"name": "a"}, "spec": {"x": 1}}


def test_a_node_without_its_images() -> None:
    """Addresses and conditions are kept, and what its spec says."""
    status = {"addresses": [{"type": "InternalIP", "address": "192.0.2.1"}], "images": ["x"] * 50}
    node = {"metadata": {"name": "a"}, "spec": {"podCIDR": "10.0.0.0/24"}, "status": status}
    assert keep_node(node) == node | {"status": {"addresses": status["addresses"]}}
