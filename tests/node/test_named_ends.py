"""Ends of a connection as users say them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.net.provenance import Listing
from podpath.node.cluster import Cluster
from podpath.node.named_ends import make_probe
from podpath.node.node import Node, Pod, Service, ServicePort, Socket
from podpath.testing.nodes import given_netns, given_node
from tests.clusters import healthy

POD = Address.parse("10.244.0.2")


def cluster(*, sockets: tuple[Socket, ...] = ()) -> Node:
    """Return a node with a pod, beside another node, and services that are called as pods are."""
    pod = given_netns("pod", "eth0 10.244.0.2/24")
    pod = replace(pod, sockets=Listing(sockets, True, "ss -tuln"))
    dns = ServicePort(protocol=protocols.UDP, port=53, name="dns")
    web = ServicePort(protocol=protocols.TCP, port=80, name="http")
    services = tuple(
        Service(
            namespace="shop",
            name=name,
            type="ClusterIP",
            addresses=(Address.parse(address),),
            ports=ports,
        )
        for name, address, ports in (("dns", "10.96.0.10", (dns,)), ("web", "10.96.0.80", (web,)))
    )
    pods = tuple(
        Pod(namespace="shop", name=name, address=POD, netns="pod") for name in ("web-0", "web")
    )
    here = given_node(
        given_netns("host", "eth0 192.0.2.1/24"), pod, name="a", services=services, pods=pods
    )
    there = given_node(given_netns("host", "eth0 192.0.2.2/24"), name="b")
    return Cluster(nodes={"a": here, "b": there}).seen_from("a")


@pytest.mark.parametrize(
    ("source", "destination", "spelled"),
    [
        ("shop/web-0", "10.244.1.2:80", "tcp 10.244.0.2 > 10.244.1.2:80 from pod"),
        ("pod/shop/web-0", "10.244.1.2", "icmp 10.244.0.2 > 10.244.1.2 from pod"),
        ("web-0", "shop/dns", "udp 10.244.0.2 > 10.96.0.10:53 from pod"),
        ("po/web-0", "svc/shop/web:http", "tcp 10.244.0.2 > 10.96.0.80:80 from pod"),
        ("node/a", "node/b:30080", "tcp 192.0.2.1 > 192.0.2.2:30080 from host"),
        ("b", "a", "icmp 192.0.2.2 > 192.0.2.1 from b/host"),
        ("outside", "node/b:30080", "tcp 198.51.100.7 > 192.0.2.2:30080"),
        ("192.0.2.9", "svc/web", "tcp 192.0.2.9 > 10.96.0.80:80"),
        ("node/b", "pod/web:8080", "tcp 192.0.2.2 > 10.244.0.2:8080 from b/host"),
        ("node/b", "web-0", "icmp 192.0.2.2 > 10.244.0.2 from b/host"),
    ],
)
def test_ends_become_a_probe(source: str, destination: str, spelled: str) -> None:
    """A bare name is what alone has it; the protocol is the service's, or an echo without a
    port.
    """
    assert str(make_probe(source, destination, cluster(), ())) == spelled


def test_a_pod_without_a_port_is_asked_where_it_listens() -> None:
    """A socket that only the pod itself reaches is none to ask."""
    inner = Socket(protocol=protocols.TCP, local=Address.parse("127.0.0.1"), port=9)
    open_to_all = Socket(protocol=protocols.TCP, local=None, port=8080)

    found = make_probe("node/b", "web-0", cluster(sockets=(inner, open_to_all)), ())

    assert str(found) == "tcp 192.0.2.2 > 10.244.0.2:8080 from b/host"


def test_the_protocol_may_be_said() -> None:
    """It comes before what is assumed."""
    found = make_probe("web-0", "10.96.0.10:53", cluster(), (), protocol="udp")

    assert found.protocol == protocols.UDP


@pytest.mark.parametrize(
    ("source", "destination", "says"),
    [
        ("shop/web", "10.0.0.1:80", "'shop/web' may be pod/shop/web or svc/shop/web: write which"),
        ("shop/nobody", "10.0.0.1:80", "saw 'shop/nobody'; it shows shop/web-0"),
        ("svc/shop/web", "10.0.0.1:80", "a pod, a node or an address as the source"),
        ("a b", "10.0.0.1:80", r"expected pod/shop/web-0, .* or outside, saw 'a b'"),
        ("node/a", "pod/web-0:http", r"a port of the pod by number or name \(none\), saw 'http'"),
        ("node/c", "10.0.0.1:80", "a node that the evidence shows .* it shows node/a, node/b"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(source: str, destination: str, says: str) -> None:
    """The error names what could have been meant."""
    with pytest.raises(UsageError, match=says):
        make_probe(source, destination, cluster(), ())


def test_a_port_by_the_name_that_the_pod_declares() -> None:
    """Objects tell the ports of containers."""
    case = healthy()["node1"]
    node = Cluster(nodes={"node1": case.node}).seen_from("node1")

    found = make_probe("node/node1", "pod/shop/web-node1:8080", node, case.facts.objects)

    assert str(found) == "tcp 10.244.1.1 > 10.244.1.2:8080 from host"


@pytest.mark.parametrize(
    ("source", "destination", "spelled"),
    [
        ("netns/pod", "10.0.0.1:80", "tcp 10.244.0.2 > 10.0.0.1:80 from pod"),
        ("/var/run/netns/pod", "netns/b/host:22", "tcp 10.244.0.2 > 192.0.2.2:22 from pod"),
        ("/run/netns/pod", "netns/b/host", "icmp 10.244.0.2 > 192.0.2.2 from pod"),
        ("pod", "b", "icmp 10.244.0.2 > 192.0.2.2 from pod"),
    ],
)
def test_a_namespace_is_an_end_by_its_name_or_path(
    source: str, destination: str, spelled: str
) -> None:
    """That of another node has its name before it; a bare name is one where nothing else has
    it.
    """
    assert str(make_probe(source, destination, cluster(), ())) == spelled


def test_a_container_is_an_end_by_its_name() -> None:
    """It is its pod, at the port that it declares."""
    case = healthy()["node1"]
    node = Cluster(nodes={"node1": case.node}).seen_from("node1")
    objects = case.facts.objects
    (web,) = [one for one in objects if one.kind == "Pod" and one.name == "web-node1"]
    name = web.tree.items_at("spec", "containers")[0].text_at("name")
    alone = [web]

    by_pod = make_probe("node/node1", "pod/shop/web-node1", node, alone)
    assert by_pod == make_probe("node/node1", f"container/{name}", node, alone)
    assert 99 == make_probe("node/node1", f"container/{name}:99", node, alone).dport
    with pytest.raises(UsageError, match=r"is in \d+ pods: name one of pod/"):
        make_probe("node/node1", f"container/{name}", node, objects)
    with pytest.raises(UsageError, match=f"did you mean {name}"):
        make_probe("node/node1", f"container/{name}x", node, objects)


@pytest.mark.parametrize(
    ("source", "meant"),
    [
        ("shop/wbe-0", "shop/web-0"),
        ("pod/shop/web-00", "pod/shop/web-0"),
        ("pod/shp/web-0", "pod/shop/web-0"),
        ("netns/pood", "netns/pod"),
    ],
)
def test_an_end_that_is_mistyped_is_said_with_near_ones(source: str, meant: str) -> None:
    """Where something is spelled alike."""
    with pytest.raises(UsageError) as told:
        make_probe(source, "10.0.0.1:80", cluster(), ())

    assert meant in str(told.value)
    assert "did you mean" in str(told.value)
