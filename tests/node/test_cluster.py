"""Several nodes joined to one model."""

from __future__ import annotations

from dataclasses import replace

from podpath.net.addresses import Prefix
from podpath.net.provenance import Known, Listing, Option, Unknown
from podpath.node.cluster import Cluster, lay_wires, name_in
from podpath.node.links import Peer
from podpath.node.node import Cilium, Node, Pod
from podpath.node.probe_names import resolve_probe
from podpath.testing.nodes import given_netns, given_node, given_route


def host(address: str, pod: str = "10.244.0.2/24") -> Node:
    """Return a node with an uplink, and a pod on a bridge of its own."""
    return given_node(
        given_netns("host", f"eth0 {address}", "cni0 bridge", "v1 master cni0 peer pod:eth0"),
        given_netns("pod", f"eth0 {pod} peer host:v1"),
    )


def test_the_other_nodes_namespaces_have_its_name_before_theirs() -> None:
    """Peers, asks and pods follow; the node at hand keeps its names."""
    there = replace(host("192.0.2.2/24"), pods=(Pod(namespace="shop", name="web", netns="pod"),))
    joined = Cluster(nodes={"a": host("192.0.2.1/24"), "b": there}).seen_from("a")

    assert list(joined.namespaces) == ["host", "pod", "b/host", "b/pod"]
    moved = joined.namespaces["b/host"]
    assert (moved.node, moved.inside, moved.place) == ("b", "host", "on b: ")
    assert joined.namespaces["b/pod"].place == "on b: in the network namespace of pod: "
    assert moved.routes.ask.startswith("on b: ")
    peers = [link.peer for link in moved.links.items if isinstance(link.peer, Known)]
    assert [peer.value for peer in peers] == [Peer(netns="b/pod", link=peers[0].value.link)]
    assert joined.pods[0].netns == "b/pod"
    assert joined.home_of(moved) is joined.beside["b"]
    assert name_in("a", "b", "pod") == "b/pod"
    assert name_in("a", "a", "pod") == "pod"


def test_a_node_is_called_as_the_cluster_calls_it() -> None:
    """Its host name may be another; ends, and what the API says of nodes, go by the cluster's."""
    own = replace(host("192.0.2.1/24"), name="ip-192-0-2-1")
    joined = Cluster(nodes={"a": own, "b": host("192.0.2.2/24")}).seen_from("a")

    assert joined.name == "a"
    ends = resolve_probe("tcp node/a > node/b:22", joined)
    assert [str(end) for end in (ends.src, ends.dst)] == ["192.0.2.1", "192.0.2.2"]


def test_an_unknown_fact_of_the_other_node_is_a_question_of_its_own() -> None:
    """Two nodes have a sysctl of one name; the answer for one is none for the other."""
    asked = Unknown("net.x in netns host", "sysctl net.x", (Option("0", "off"),))
    node = host("192.0.2.2/24")
    netns = replace(node.namespaces["host"], sysctls={"net.x": asked})
    netns = replace(netns, sysctls_complete=False)
    there = replace(node, namespaces={**node.namespaces, "host": netns})

    moved = Cluster(nodes={"a": there, "b": there}).seen_from("a").namespaces["b/host"]

    fact = moved.sysctls["net.x"]
    assert isinstance(fact, Unknown)
    assert (fact.fact, fact.ask) == ("net.x in netns host on b", "on b: sysctl net.x")
    missing = moved.sysctl("net.y", "0")
    assert isinstance(missing, Unknown)
    assert missing.ask == "on b: sysctl net.y"


def test_devices_of_one_subnet_are_on_one_wire() -> None:
    """Pods' bridges are on none, though two nodes give theirs one range."""
    joined = Cluster(
        nodes={"a": host("192.0.2.1/24"), "b": host("192.0.2.2/24"), "c": host("198.51.100.3/24")}
    ).seen_from("a")

    near, far, knowing = joined.wires
    assert near.prefix == Prefix.parse("192.0.2.0/24")
    assert [(end.node, end.link) for end in near.ends] == [("a", "eth0"), ("b", "eth0")]
    assert far.prefix is None
    assert {end.node for end in far.ends} == {"a", "b", "c"}
    assert [end.node for end in near.others("host")] == ["b"]
    assert [near.pods, far.pods, knowing.pods] == [False, False, True]


def test_nodes_that_route_the_pods_of_others_leave_it_to_no_network() -> None:
    """One route to a pod of another node, by that node, says that all of them need theirs."""
    there = host("192.0.2.2/24")
    pod = next(item.address for item in there.namespaces["pod"].addresses.items)
    here = host("192.0.2.1/24")
    routes = (given_route(f"{pod} via 192.0.2.2 dev eth0"),)
    routing = replace(here.namespaces["host"], routes=Listing(routes, True, "ip route"))
    here = replace(here, namespaces={**here.namespaces, "host": routing})

    for home in ("a", "b"):
        wires = Cluster(nodes={"a": here, "b": there}).seen_from(home).wires
        assert [wire.pods for wire in wires] == [False]


def test_a_node_whose_programs_are_not_followed_is_on_the_wire_all_the_same() -> None:
    """It hears what is sent there; what it makes of that is where a walk ends."""
    there = replace(host("192.0.2.2/24"), cilium=Cilium(options={}))

    joined = Cluster(nodes={"a": host("192.0.2.1/24"), "b": there}).seen_from("a")

    assert {end.node for end in lay_wires("a", joined)[0].ends} == {"a", "b"}
