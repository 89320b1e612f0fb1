"""Tests of `sources.gathering`: a question's nodes and their snapshots, and what is said of a node
that gives none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podpath.kube import access
from podpath.kube.client import Client
from podpath.sources.gathering import MOST_NODES, GatheringOptions, gather_cluster, say_how
from podpath.sources.objects import LackingRights
from tests.kube.scripted import Answer, Asked, Scripted, refusal, write_kubeconfig

BUNDLE = b"\x1f\x8bbundle"


def make_pod(name: str, node: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # parts of a pod
    """Make a pod that runs on a node."""
    about = {"name": name, "namespace": more.pop("namespace", "shop")} | more.pop("about", {})
    spec = {"nodeName": node, "containers": [{"name": "c", "ports": more.pop("ports", [])}]}
    return {"metadata": about, "spec": spec, "status": {"phase": "Running"}}


def make_agent(node: str) -> dict[str, Any]:
    """Make an agent's pod."""
    labels = {"app.kubernetes.io/name": "podpath-agent"}
    ports = [{"name": "snapshot", "containerPort": 9810}]
    return make_pod(
        f"agent-{node}", node, namespace="podpath", about={"labels": labels}, ports=ports
    )


def answer(asked: Asked, pods: list[dict[str, Any]], broken: str = "") -> Answer:
    """Answer as an API server with these pods, one of whose agents may be broken."""
    if "/proxy/" in asked.path:
        if broken and f"agent-{broken}:" in asked.path:
            return refusal(503, "ServiceUnavailable", "dial tcp: i/o timeout")
        return Answer(200, [BUNDLE + asked.path.encode()])
    if asked.path.endswith("/token"):
        return Answer(201, [b'{"status":{"token":"t.t.t"}}'])
    items = pods if asked.path.startswith("/api/v1/pods") else []
    return Answer(200, [json.dumps({"items": items}).encode()])


def gather(tmp_path: Path, pods: list[dict[str, Any]], *ends: str, **more: Any) -> Any:  # noqa: ANN401  # ClusterEvidence
    """Gather what a question needs from a scripted server."""
    broken = more.pop("broken", "")
    told = more.pop("told", lambda doing, share: None)  # noqa: ARG005  # nobody listens
    with Scripted(lambda asked: answer(asked, pods, broken)) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as client:
            return gather_cluster(client, ends, GatheringOptions(**more), told)


SHOP = [make_pod("web", "a"), make_pod("api", "b"), make_pod("other", "c")]
AGENTS = [make_agent(node) for node in ("a", "b", "c")]


def test_the_nodes_of_both_ends_are_taken(tmp_path: Path) -> None:
    """From their agents, the source's first, and no other node's; progress begins and ends."""
    told: list[tuple[str, float]] = []
    found = gather(
        tmp_path, SHOP + AGENTS, "pod/shop/web", "shop/api", told=lambda *each: told.append(each)
    )
    assert list(found.bundles) == ["a", "b"]
    assert b"agent-b" in found.bundles["b"]
    assert found.lacking == ()
    assert len(found.objects.items["pods"]) == 6
    assert {doing for doing, share in told if share == 1.0} == {
        doing for doing, share in told if share == 0.0
    }


def test_a_node_without_an_agent_is_said_with_what_to_do(tmp_path: Path) -> None:
    """The other has its snapshot all the same."""
    found = gather(tmp_path, SHOP + AGENTS[:1], "pod/shop/web", "pod/shop/api")
    assert list(found.bundles) == ["a"]
    assert found.lacking == (say_how("b"),)
    assert "--collect" in say_how("b")
    assert "--node b=b.tar.gz" in say_how("b")


def test_an_agent_that_fails_fails_its_node_alone(tmp_path: Path) -> None:
    """The API server's words about the way to it."""
    found = gather(tmp_path, SHOP + AGENTS, "pod/shop/web", "pod/shop/api", broken="b")
    assert list(found.bundles) == ["a"]
    assert "b: the API server does not reach port 9810" in found.lacking[0]


def test_a_node_whose_evidence_is_given_is_not_asked(tmp_path: Path) -> None:
    """By hand is enough."""
    found = gather(tmp_path, SHOP + AGENTS, "pod/shop/web", "pod/shop/api", known=("b",))
    assert list(found.bundles) == ["a"]
    assert found.lacking == ()


def test_a_question_of_very_many_nodes_is_cut_and_said(tmp_path: Path) -> None:
    """A service on all of them would be no longer one answer."""
    nodes = [f"n{number:03}" for number in range(MOST_NODES + 3)]
    pods = [make_pod(f"p-{node}", node) for node in nodes] + [make_agent(node) for node in nodes]
    found = gather(tmp_path, pods, *(f"pod/shop/p-{node}" for node in nodes))
    assert list(found.bundles) == nodes[:MOST_NODES]
    assert found.lacking[0].startswith(f"3 of {len(nodes)} nodes")


def test_what_may_not_be_listed_ends_it(tmp_path: Path) -> None:
    """Without the API's objects no node is asked."""
    with (
        Scripted(lambda _: refusal(403, "Forbidden")) as server,
        Client(access.find(write_kubeconfig(tmp_path, server.url, {"token": "t"}))) as client,
        pytest.raises(LackingRights),
    ):
        gather_cluster(client, ("pod/shop/web",), GatheringOptions())


def test_endpoints_are_read_again_after_the_snapshots(tmp_path: Path) -> None:
    """Those of before say nothing for certain of rules that were read later; what the server does
    not answer a second time stays as it was.
    """
    heard: list[str] = []

    def change(asked: Asked) -> Answer:
        taken = any("/proxy/" in path for path in heard)
        heard.append(asked.path)
        if asked.path.startswith("/api/v1/endpoints"):
            about = {"name": "api", "namespace": "shop", "labels": {"taken": str(taken)}}
            return Answer(200, [json.dumps({"items": [{"metadata": about}]}).encode()])
        if "/endpointslices" in asked.path and taken:
            return refusal(500, "InternalError", "etcd: too busy")
        return answer(asked, SHOP + AGENTS)

    with Scripted(change) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as client:
            found = gather_cluster(client, ("pod/shop/web",), GatheringOptions())

    (endpoints,) = found.objects.items["endpoints"]
    assert endpoints["metadata"]["labels"] == {"taken": "True"}
    listed = found.objects.listed
    assert listed["endpoints"] > listed["endpointslices"] == listed["pods"]


def test_ends_without_a_kind_have_their_nodes(tmp_path: Path) -> None:
    """A name alone is a pod, a service or a node, of a near namespace where that has it."""
    other = make_pod("web", "c", namespace="other")
    found = gather(tmp_path, [*SHOP, other, *AGENTS], "web", "shop/api:80", near=("shop",))
    assert list(found.bundles) == ["a", "b"]


def narrow(tmp_path: Path, *ends: str, refused: bool = False, **more: Any) -> Any:  # noqa: ANN401  # ClusterEvidence
    """Gather from a server that lists pods by their namespaces; it may refuse those of agents."""

    def by_namespace(asked: Asked) -> Answer:
        if "/proxy/" in asked.path or asked.path.endswith("/token"):
            return answer(asked, [])
        if refused and "/namespaces/podpath/" in asked.path:
            return refusal(403, "Forbidden")
        pods = [
            pod
            for pod in SHOP + AGENTS
            if f"/namespaces/{pod['metadata']['namespace']}/pods" in asked.path
        ]
        return Answer(200, [json.dumps({"items": pods}).encode()])

    with Scripted(by_namespace) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as client:
            return gather_cluster(client, ends, GatheringOptions(namespaces=("shop",), **more))


def test_agents_are_looked_for_in_their_own_namespace(tmp_path: Path) -> None:
    """Whichever is read beside it; where that may not be listed, what would allow it is said."""
    found = narrow(tmp_path, "pod/shop/web", "pod/shop/api")
    assert list(found.bundles) == ["a", "b"]
    assert found.lacking == ()
    alone = narrow(tmp_path, "pod/shop/web", refused=True)
    assert alone.bundles == {}
    assert "agents: pods: 403 Forbidden" in alone.lacking[0]
    given = narrow(tmp_path, "pod/shop/web", refused=True, known=("a",))
    assert given.lacking == ()
    elsewhere = narrow(tmp_path, "pod/shop/web", agents="tools")
    assert elsewhere.lacking == (say_how("a"),)


def test_namespaces_of_the_ends_are_read_too(tmp_path: Path) -> None:
    """Else a question between two of them could not be asked."""
    found = narrow(tmp_path, "web", "pod/podpath/agent-c")
    assert list(found.bundles) == ["a", "c"]


def test_an_address_of_namespaces_that_were_not_read_is_missing(tmp_path: Path) -> None:
    """Its node is not known, so that nothing may be cleared."""
    found = narrow(tmp_path, "pod/shop/web", "10.9.9.9:80")
    assert found.absent == ("of 10.9.9.9:80",)
    assert "without --namespace" in found.lacking[0]


def test_a_pod_that_has_no_address_is_told(tmp_path: Path) -> None:
    """No snapshot would show it."""
    late = make_pod("late", "")
    late["status"] = {"phase": "Pending"}
    found = gather(tmp_path, [*SHOP, late], "pod/shop/late", "8.8.8.8:53")
    assert (found.unplaced, found.bundles) == (("shop/late",), {})
