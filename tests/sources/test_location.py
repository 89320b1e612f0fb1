"""Tests of `sources.location`: the nodes that the ends of a question are on."""

from __future__ import annotations

import pytest

from podpath.sources.kinds import ApiItem
from podpath.sources.location import PlacedPod, find_nodes, find_pod, list_nodes
from podpath.sources.objects import ApiObjects


def named(name: str, **more: object) -> ApiItem:
    """Make an object of the namespace `shop`."""
    labels = more.pop("labels", {})
    return {"metadata": {"name": name, "namespace": "shop", "labels": labels}, **more}


def pod(name: str, node: str, address: str, **spec: object) -> ApiItem:
    """Make a pod of the application `api` that is bound to a node."""
    status = {"podIP": address, "podIPs": [{"ip": address}, {"ip": f"fd00::{name[-1]}"}]}
    about = {"app": "api"} if name.startswith("api") else {}
    return named(name, labels=about, spec={"nodeName": node, **spec}, status=status)


def endpoint(address: str, **more: str) -> ApiItem:
    """Make an endpoint of a subset."""
    return {"ip": address, **more}


SHOP = ApiObjects(
    items={
        "pods": [
            pod("web-0", "node1", "10.0.1.5"),
            pod("api-0", "node2", "10.0.2.5"),
            pod("api-1", "node3", "10.0.3.5"),
            pod("agent-2", "node2", "192.0.2.2", hostNetwork=True),
            pod("new-3", "", ""),
        ],
        "services": [
            named("api", spec={"clusterIP": "10.96.0.7", "selector": {"app": "api"}}),
            named("hand", spec={"clusterIP": "10.96.0.8"}),
            named(
                "sliced",
                spec={
                    "clusterIP": "10.96.0.9",
                    "externalIPs": ["203.0.113.5"],
                    "ports": [{"port": 80, "nodePort": 30080}],
                },
                status={"loadBalancer": {"ingress": [{"ip": "198.51.100.5"}]}},
            ),
        ],
        "endpoints": [
            named("hand", subsets=[{"addresses": [endpoint("10.0.1.5")]}]),
            named("api", subsets=[{"addresses": [endpoint("10.0.2.5", nodeName="node2")]}]),
        ],
        "endpointslices": [
            named(
                "sliced-x",
                labels={"kubernetes.io/service-name": "sliced"},
                endpoints=[{"addresses": ["10.0.3.5"]}],
            )
        ],
        "nodes": [
            named(f"node{n}", status={"addresses": [{"address": f"192.0.2.{n}"}]})
            for n in (1, 2, 3)
        ],
    }
)


@pytest.mark.parametrize(
    ("end", "nodes"),
    [
        ("pod/shop/web-0", ("node1",)),
        ("pod/shop/nobody", ()),
        ("pod/web-0", ()),
        ("pod/shop/new-3", ()),
        ("svc/shop/api:http", ("node2", "node3")),
        ("service/shop/hand", ("node1",)),
        ("svc/shop/sliced:80", ("node3",)),
        ("node/node2", ("node2",)),
        ("192.0.2.2", ("node2",)),
        ("10.0.1.5", ("node1",)),
        ("[fd00::1]:80", ("node3",)),
        ("fd00::1", ("node3",)),
        ("10.96.0.7:80", ("node2", "node3")),
        ("203.0.113.9:443", ()),
        ("203.0.113.5:80", ("node3",)),
        ("198.51.100.5:80", ("node3",)),
        ("shop/web-0:80", ("node1",)),
        ("outside", ()),
        ("node/node1:30080", ("node1", "node3")),
        ("192.0.2.2:30080", ("node2", "node3")),
        ("node/node1:30081", ("node1",)),
        ("example.com:443", ()),
    ],
)
def test_an_end_is_on_its_nodes(end: str, nodes: tuple[str, ...]) -> None:
    """Endpoints say their node, or their address does, or the selector of the service does; what
    is outside of the cluster is on none.
    """
    assert set(find_nodes(SHOP, end)) == set(nodes)


def test_a_container_is_where_its_pods_are() -> None:
    """By the name that the pods' specifications have for it."""
    pods = [
        pod("api-0", "node2", "10.0.2.5", containers=[{"name": "nginx"}]),
        pod("api-1", "node3", "10.0.3.5", containers=[{"name": "proxy"}, {"name": "nginx"}]),
    ]
    shop = ApiObjects(items={"pods": pods})

    assert find_nodes(shop, "container/nginx") == ("node2", "node3")
    assert find_nodes(shop, "co/proxy:80") == ("node3",)
    assert find_nodes(shop, "container/none") == ()


def test_all_nodes_are_listed() -> None:
    """By their names, in order."""
    assert list_nodes(SHOP) == ("node1", "node2", "node3")


@pytest.mark.parametrize("end", ["pod/shop/web-0", "shop/web-0", "po/shop/web-0"])
def test_a_pod_is_found_with_its_node_and_addresses(end: str) -> None:
    """Each address once; one on its node's network has none of its own."""
    assert find_pod(SHOP, end) == PlacedPod("shop/web-0", "node1", ("10.0.1.5", "fd00::0"))
    host = find_pod(SHOP, "pod/shop/agent-2")
    assert host is not None
    assert host.addresses == ()
    assert find_pod(SHOP, "pod/shop/nobody") is None
