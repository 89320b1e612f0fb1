"""All flows of the nodes of a real cluster, each walked from its own node over the other one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from podpath.flows.flow import FlowSet
from podpath.library.case import Case, NodeCase
from podpath.library.cluster import ClusterViews
from podpath.net.errors import UsageError
from podpath.node.node import NetnsRole
from podpath_fleet.reach_cluster import ClusterReach, reach_cluster
from tests.clusters import OBJECTS, healthy
from tests.fleet.sampled import SampledTally, sample_space
from tests.seeds import fresh_seed


def ask(sources: tuple[str, ...], *targets: str, ports: str = "1-65535") -> ClusterReach:
    """Enumerate TCP on the healthy cluster of two nodes."""
    return reach_cluster(
        healthy(), FlowSet(sources, targets, ("tcp",), ports), objects=str(OBJECTS)
    )


def test_a_pod_reaches_one_port_of_a_pod_on_another_node() -> None:
    """The port at which it listens works and all others are refused there, from any source port
    though the tunnel's outer port is a hash of it.
    """
    found = ask(("pod/shop/web-node1",), "pod/shop/far")
    (node,) = json.loads(found.json())["nodes"]
    said = {one["verdict"]: one for one in node["sets"]}

    assert (node["node"], node["complete"], found.exit_code) == ("node1", True, 1)
    assert said.keys() == {"ALWAYS", "NEVER"}
    assert said["ALWAYS"]["headers"][0]["dport"] == ["8080"]
    assert said["ALWAYS"]["ends"] == ["delivered in node2/far"]
    assert said["NEVER"]["headers"][0]["dport"] == ["1-8079", "8081-65535"]
    assert said["NEVER"]["headers"][0]["sport"] == ["32768-60999"]
    assert found.text().startswith("node node1\ntcp 10.244.1.2 from web-node1")


def test_every_pod_is_asked_on_its_own_node() -> None:
    """Each of the five pods once; a service is answered by endpoints on whatever node."""
    found = ask((), "svc/shop/far:80")
    asked = {
        name: [space.sample.netns for space, _ in one.enumerations]
        for name, one in found.nodes.items()
    }
    ends = {name: {one.answer.ends for one in result.sets} for name, result in found.nodes.items()}

    assert {name: sorted(map(str, pods)) for name, pods in asked.items()} == {
        "node1": ["api-node1", "web-node1"],
        "node2": ["api-node2", "far", "web-node2"],
    }
    assert ends == {
        "node1": {("delivered in node2/far",)},
        "node2": {("delivered in far",)},
    }
    assert found.exit_code == 0


def test_each_header_is_walked_over_the_nodes_as_its_class_says() -> None:
    """Headers of each class, drawn anew in each run and walked by themselves."""
    seed, tally = fresh_seed(), SampledTally()
    views = ClusterViews(healthy())
    asked = ("pod/shop/web-node1", "pod/shop/far")
    found = ask(asked, "10.244.0.0/16", "10.96.0.0/12", ports="1-11000")
    for name, result in found.nodes.items():
        case = Case(nodes=(NodeCase(name=name, facts=views.view_of(name).case),))
        for _, classes in result.enumerations:
            sample_space(case, classes, tally, Random(f"{seed} {name}"), 1)

    assert tally.wrong == [], seed
    assert tally.moved > tally.classes / 2 > 100


def test_a_node_that_is_not_given_is_unknown() -> None:
    """The API names it: what its pods send was asked about as that of all others."""
    near = {"node1": healthy()["node1"]}
    question = FlowSet((), ("10.244.1.2",), ("tcp",), "8080")
    found = reach_cluster(near, question, objects=str(OBJECTS), lacking=("node9",))
    document = json.loads(found.json())

    assert {one.exit_code for one in found.nodes.values()} == {0}
    assert (found.absent, found.exit_code) == (("node9", "node2"), 3)
    assert (document["absent"], document["complete"]) == (["node9", "node2"], False)
    assert "what starts or arrives on node9, node2" in found.text()


def test_a_source_that_is_on_no_node_is_unknown() -> None:
    """What starts on the given node works, and says nothing of the other source."""
    near = {"node1": healthy()["node1"]}
    question = FlowSet(("pod/shop/web-node1", "10.244.9.9"), ("10.244.1.2",), ("tcp",), "8080")
    found = reach_cluster(near, question)

    assert {one.exit_code for one in found.nodes.values()} == {0}
    assert (found.complete, found.exit_code) == (False, 3)
    assert json.loads(found.json())["unasked"] == list(found.unasked)
    assert "UNKNOWN: what 10.244.9.9 sends: it is on no node" in found.text()


def test_a_source_is_asked_once_wherever_it_is() -> None:
    """A node that does not have it says nothing of it; a name that none has leaves it open."""
    asked = ask(("10.244.1.2 from web-node1",), "10.244.0.3", ports="8080")
    unread = ask(("10.244.1.2 from web-node1", "pod/shop/nobody"), "10.244.0.3", ports="8080")

    assert (asked.unasked, asked.exit_code) == ((), 0)
    assert (len(unread.unasked), unread.exit_code) == (1, 3)
    assert "pod/shop/nobody" in unread.unasked[0]


def test_a_node_that_shows_no_pod_s_address_is_unknown() -> None:
    """Nothing can be walked from there, whatever works from the other node."""
    far = healthy()["node2"]
    namespaces = {
        name: replace(netns, addresses=netns.addresses._replace(items=(), complete=False))
        for name, netns in far.node.namespaces.items()
        if netns.role is NetnsRole.POD
    }
    node = replace(far.node, namespaces={**far.node.namespaces, **namespaces})
    bare = Case(nodes=(NodeCase(name="node2", facts=replace(far.facts, node=node)),))
    question = FlowSet((), ("10.244.1.2",), ("tcp",), "8080")
    found = reach_cluster({"node1": healthy()["node1"], "node2": bare}, question)

    assert (found.nodes["node1"].exit_code, found.exit_code) == (0, 3)
    assert sorted(found.nodes["node2"].unaddressed) == ["api-node2", "far", "web-node2"]


def test_a_pod_that_no_namespace_shows_is_unknown(tmp_path: Path) -> None:
    """It runs on the node by what the API says: all pods were asked about, and this one was not."""
    near = {"node1": healthy()["node1"]}
    pods = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "unseen", "namespace": "shop"},
        "spec": {"nodeName": "node1"},
        "status": {"phase": "Running", "podIP": "10.244.1.77"},
    }
    said = tmp_path / "pods.json"
    said.write_text(json.dumps(pods))
    question = FlowSet((), ("10.244.1.2",), ("tcp",), "8080")
    unseen = reach_cluster(near, question, objects=said)
    named = reach_cluster(
        near,
        question._replace(sources=("pod/shop/web-node1",)),
        objects=said,
    )

    assert (unseen.exit_code, named.exit_code) == (3, 0)
    assert "what pod shop/unseen sends" in unseen.text()


def test_without_a_node_or_a_source_on_one_nothing_is_asked() -> None:
    """One clear line."""
    question = FlowSet(("pod/shop/far",), (), ("tcp",))
    with pytest.raises(UsageError, match="evidence of a node"):
        reach_cluster({}, question)
    with pytest.raises(UsageError, match="on a node that is given"):
        reach_cluster({"node1": healthy()["node1"]}, question, objects=str(OBJECTS))
    with pytest.raises(UsageError, match="pod/shop/nobody"):
        ask(("pod/shop/nobody",))
