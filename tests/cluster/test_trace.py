"""What podpath predicts of a real cluster against connections that are really made there: pod to
pod on one node, and pod to service, in both shapes of kube-proxy's rules.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from podpath.net.probe import Probe
from scripts.kubernetes import cluster, control
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.plan import PROXIES, Plan
from tests.cluster import pods
from tests.command import podpath

SPACE = "trace"


@pytest.fixture(scope="module", params=PROXIES)
def shop(request: pytest.FixtureRequest, kubernetes: Cluster) -> Iterator[Cluster]:
    """Provide a cluster of each shape with a client and two servers on one node, one on another,
    their service, one of the remote server alone, and one of nobody.
    """
    own = request.param == kubernetes.plan.proxy
    plan = Plan(name=f"p{os.getpid()}", proxy=request.param, plugin="routed")
    tried = kubernetes if own else cluster.up(plan)
    try:
        control.wait(lambda: not list_leaving(tried), "pods of other tests to go")
        pods.create(
            tried,
            pods.make_namespace(SPACE),
            pods.make_pod(SPACE, "web", "node1", "web"),
            pods.make_pod(SPACE, "api-a", "node1", "api"),
            pods.make_pod(SPACE, "api-b", "node1", "api"),
            pods.make_pod(SPACE, "far", "node2", "far"),
            *(pods.make_service(SPACE, name) for name in ("api", "far", "nobody")),
        )
        yield tried
    finally:
        if not own:
            cluster.down(plan.name)


def list_leaving(tried: Cluster) -> list[str]:
    """Return the pods that are being deleted: the API lists one longer than it has a namespace."""
    listed = (each["metadata"] for each in tried.read("pods", "-A")["items"])
    return [found["name"] for found in listed if "deletionTimestamp" in found]


def take_snapshot(tried: Cluster, node: str, folder: Path) -> list[Path]:
    """Take a snapshot of a node from the machine, with what kubectl says of services."""
    bundle, services = folder / f"{node}.tar.gz", folder / "services.txt"
    process = str(tried.nodes[node].process)
    done = podpath("snapshot", "--no-logs", "-o", bundle, "--node-netns", process)
    assert done.returncode == 0, done.stderr
    services.write_text(
        f"$ kubectl get svc -A\n{tried.kubectl('get', 'svc', '-A')}", encoding="utf-8"
    )
    return [bundle, services]


def trace(evidence: Sequence[Path], probe: str) -> Any:  # noqa: ANN401  # a published schema
    """Return what `podpath trace` answers."""
    return json.loads(podpath("trace", *evidence, "--probe", probe, "--json").stdout)


def address_of(tried: Cluster, kind: str, name: str) -> str:
    """Return the address of a pod or a service."""
    found = tried.read(kind, name, "-n", SPACE)
    return str(found["status"]["podIP"] if kind == "pod" else found["spec"]["clusterIP"])


def test_a_snapshot_holds_the_nodes_own_pods_by_their_names(shop: Cluster, tmp_path: Path) -> None:
    """Those of the other node, the control plane's namespace and the machine's are left out."""
    bundle = tmp_path / "node"
    process = str(shop.nodes["node1"].process)
    podpath("snapshot", "--no-logs", "-o", bundle, "--node-netns", process)
    manifest = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    named = {about.get("pod") for name, about in manifest["netns"].items() if name != "host"}
    running = {
        f"{each['metadata']['namespace']}/{each['metadata']['name']}"
        for each in shop.read("pods", "-A")["items"]
        if each["spec"]["nodeName"] == "node1"
    }
    assert named == running
    assert "machine" in manifest["left_out"]
    assert manifest["node"] == "node1"


@pytest.mark.parametrize(
    ("kind", "name", "port", "servers"),
    [
        ("pod", "api-a", pods.PORT, {"api-a"}),
        ("pod", "far", pods.PORT, {"far"}),
        ("service", "api", 80, {"api-a", "api-b"}),
        ("service", "far", 80, {"far"}),
        ("service", "nobody", 80, set()),
    ],
)
def test_predicted_and_real_connections_agree(  # what is asked, and fixtures
    kind: str, name: str, port: int, servers: set[str], shop: Cluster, tmp_path: Path
) -> None:
    """The verdict is what really happens, every branch of the first packet ends at a server that
    really answers, and each of those has a branch; the server sees the address that was predicted.
    What leaves for the other node, of which this one's snapshot shows nothing, is undecided.
    """
    address = address_of(shop, kind, name)
    heard: set[pods.Answer] = set()

    def hear() -> bool:
        answer = pods.ask(shop, SPACE, "web", address, port)
        heard.update(() if answer is None else (answer,))
        return {answer.server for answer in heard} == servers

    control.wait(hear, f"answers of {servers}", shop.nodes["node1"], "kube-proxy")
    end = f"svc/{SPACE}/{name}:{port}" if kind == "service" else f"{address}:{port}"
    evidence = take_snapshot(shop, "node1", tmp_path)
    found = trace(evidence, f"tcp pod/{SPACE}/web > {end}")
    placed = {each["metadata"]["name"]: each["spec"] for each in shop.read("pods", "-A")["items"]}
    nodes = {placed[server]["nodeName"] for server in servers}
    works = "ALWAYS" if nodes <= {"node1"} else "UNDECIDED"
    assert found["verdict"] == (works if servers else "NEVER")
    first = [branch["packets"][0] for branch in found["branches"]]
    ends = {each["left_as"] for each in first if each["outcome"] in {"delivered", "transmitted"}}
    reached = {Probe.parse(left_as.partition(" [")[0]) for left_as in ends}
    assert {str(probe.dst) for probe in reached} == {
        address_of(shop, "pod", answer.server) for answer in heard
    }
    assert {str(probe.src) for probe in reached} == {answer.client for answer in heard}
