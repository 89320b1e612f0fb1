"""Tests of `sources.location`: the nodes that the ends of a question are on."""

from __future__ import annotations

import pytest

from podpath.net.errors import UsageError
from podpath.sources.kinds import ApiItem
from podpath.sources.location import (
    PlacedPod,
    find_nodes,
    find_pod,
    is_read,
    list_namespaces,
    list_nodes,
    list_unplaced,
)
from podpath.sources.objects import ApiObjects


def named(name: str, **more: object) -> ApiItem:
    """Make an object of the namespace `shop`."""
    labels = more.pop("labels", {})
    return {"metadata": {"name": name, "namespace": "shop", "labels": labels}, **more}


def pod(name: str, node: str, address: str, **spec: object) -> ApiItem:
    """Make a pod of the application `api` that is bound to a node."""
    status: ApiItem = {"podIP": address, "podIPs": [{"ip": address}, {"ip": f"fd00::{name[-1]}"}]}
    about = {"app": "api", "pod-template-hash": "5c"} if name.startswith("api") else {}
    ready = "True" if name == "api-1" else "False"
    status["conditions"] = [{"type": "Ready", "status": ready}]
    made = named(name, labels=about, spec={"nodeName": node, **spec}, status=status)
    owner = {"kind": "ReplicaSet", "name": "api-5c", "controller": True}
    made["metadata"] |= {"ownerReferences": [owner]} if about else {}
    return made


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
        ("pod/web-0", ("node1",)),
        ("web-0", ("node1",)),
        ("shop/api", ("node2", "node3")),
        ("api.shop.svc.cluster.local:http", ("node2", "node3")),
        ("api-0.api.shop.svc", ("node2",)),
        ("node2:30080", ("node2", "node3")),
        ("deploy/shop/api", ("node3",)),
        ("deploy/shop/nobody", ()),
        ("no end at all", ()),
        ("pod/shop/new-3", ()),
        ("svc/shop/api:http", ("node2", "node3")),
        ("service/shop/hand", ("node1",)),
        ("svc/shop/sliced:80", ("node3",)),
        ("node/node2", ("node2",)),
        ("node/node9", ()),
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


TWICE = ApiObjects(
    items={
        "pods": [
            pod("web-0", "node1", "10.0.1.5"),
            pod("web-0", "node2", "10.0.2.6") | {"metadata": {"name": "web-0", "namespace": "b"}},
        ]
    }
)


def test_a_name_is_looked_for_nearby_first() -> None:
    """Where two namespaces have it and none is near, the nodes of both are concerned, and whoever
    wants one pod is asked which.
    """
    assert find_nodes(TWICE, "web-0", ("b",)) == ("node2",)
    assert find_nodes(TWICE, "web-0") == ("node1", "node2")
    near = find_pod(TWICE, "web-0", ("b",))
    assert near is not None
    assert near.name == "b/web-0"
    with pytest.raises(UsageError, match="may be pod/shop/web-0 or pod/b/web-0: write which"):
        find_pod(TWICE, "web-0")


def test_a_workload_is_found_as_a_pod_of_it() -> None:
    """The one that is ready."""
    found = find_pod(SHOP, "deploy/api")
    assert found is not None
    assert found.name == "shop/api-1"


def test_pods_without_an_address() -> None:
    """Ends that no snapshot would show: neither those that are placed, nor what is no pod."""
    ends = ("shop/late-1", "pod/shop/web-0", "svc/shop/api", "10.0.1.5", "no end at all")
    ended = named("old-1", spec={}, status={"phase": "Succeeded", "podIP": "10.0.1.9"})
    late = named("late-1", spec={"nodeName": "node1"}, status={"phase": "Pending"})
    shop = ApiObjects(items={**SHOP.items, "pods": [*SHOP.items["pods"], ended, late]})

    assert list(list_unplaced(shop, ends)) == ["shop/late-1"]
    assert list(list_unplaced(shop, ("shop/old-1",))) == ["shop/old-1"]


def test_namespaces_that_ends_name() -> None:
    """Each once; an address is of none."""
    ends = ("shop/web-0", "svc/shop/api", "web", "dns.kube-system.svc:53", "10.0.0.1", "*")
    assert list_namespaces(ends) == ("shop", "kube-system")


@pytest.mark.parametrize(
    ("end", "read"),
    [
        ("10.0.1.5:80", True),
        ("10.96.0.7:80", True),
        ("192.0.2.2:30080", True),
        ("10.0.9.9", False),
        ("[fd00::99]:80", False),
        ("8.8.8.8:53", True),
        ("shop/nobody", True),
        ("node/node1:30080", True),
        ("node1:30081", False),
        ("192.0.2.1:30081", False),
        ("node/node1:22", True),
        ("10.0.1.5:30081", True),
        ("no end at all", True),
    ],
)
def test_an_address_that_nothing_has_may_be_of_what_was_not_read(end: str, read: bool) -> None:  # noqa: FBT001
    """One of a private network may; names are missed elsewhere."""
    assert is_read(SHOP, end) is read


def test_a_workload_is_on_the_nodes_of_all_of_its_pods_where_all_are_asked_about() -> None:
    """Other ends are where they are."""
    found = [find_nodes(SHOP, end, every_pod=True) for end in ("deploy/shop/api", "pod/shop/web-0")]
    assert [sorted(nodes) for nodes in found] == [["node2", "node3"], ["node1"]]
