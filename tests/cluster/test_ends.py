"""Ends of `podpath why` on a real cluster, however they are spelled: what Kubernetes makes of a
Deployment and of a pod that no node accepts, and an endpoint that comes and goes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from podpath.checks.services.proxy_behind import NAME as PROXY_BEHIND
from scripts.kubernetes import control
from scripts.kubernetes.cluster import Cluster
from tests.cluster import deployed, pods
from tests.command import start as podpath_command

SPACE = "ends"
ROUNDS = 6
"""Questions about a service whose pod restarts: some fall between its end and its next start."""
_RESTARTING = f"httpd -h /www -p 0.0.0.0:{pods.PORT}; sleep 4; exit 1"


@pytest.fixture(scope="module")
def cluster(kubernetes: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Provide a cluster whose nodes have agents, with a pod on each, a service, a Deployment, a pod
    that no node accepts, and one that restarts.
    """
    deployed.supply(kubernetes, SPACE)
    labels = {"app": "front"}
    spec = pods.make_pod(SPACE, "front", "node2", "front")["spec"]
    template = {"metadata": {"labels": labels}, "spec": spec}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": SPACE, "name": "front"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }
    late = pods.make_pod(SPACE, "late", "node1", "late")
    del late["spec"]["nodeName"]
    late["spec"]["nodeSelector"] = {"disk": "none-has-it"}
    flapping = pods.make_pod(SPACE, "flapping", "node2", "flapping")
    flapping["spec"]["containers"][0]["command"] = ["sh", "-c", _RESTARTING]
    pods.create(
        kubernetes,
        *(deployment, late, flapping, pods.make_service(SPACE, "flapping")),
        ready=False,
    )
    control.wait(lambda: count_ready(kubernetes, "front") == 2, "the Deployment's pods")
    with deployed.agents(kubernetes, tmp_path_factory.mktemp("deploy") / "deploy"):
        yield kubernetes


def count_ready(cluster: Cluster, app: str) -> int:
    """Count the pods of an application that are ready."""
    listed = cluster.read("pods", "-n", SPACE, "-l", f"app={app}")["items"]
    return sum(pods.is_running(cluster, SPACE, each["metadata"]["name"]) for each in listed)


def why(cluster: Cluster, *words: str) -> Any:  # noqa: ANN401  # JSON
    """Ask, and return the answer with its exit code."""
    done = podpath_command("why", *words, "--json", "--kubeconfig", cluster.plan.kubeconfig)
    assert done.stdout, done.stderr
    return json.loads(done.stdout) | {"code": done.returncode}


@pytest.mark.parametrize(
    ("words", "reached"),
    [
        (("web-0", "api-0:8080", "-n", SPACE), "api-0"),
        ((f"{SPACE}/web-0", f"svc/{SPACE}/api:http"), "api-0"),
        ((f"{SPACE}/web-0", f"api.{SPACE}.svc.cluster.local:http"), "api-0"),
        ((f"pod/{SPACE}/web-0", f"deploy/{SPACE}/front:8080"), "front-"),
    ],
)
def test_each_spelling_is_walked_to_the_other_node(
    cluster: Cluster, words: tuple[str, ...], reached: str
) -> None:
    """Both nodes' agents are asked, and the connection, which really works, is said to."""
    control.wait(
        lambda: pods.ask(cluster, SPACE, "web-0", address_of(cluster, "api-0")) is not None,
        "an answer",
    )
    answer = why(cluster, *words)

    assert (answer["code"], answer["verdict"]) == (0, "none"), answer
    assert reached in json.dumps(answer["conversations"])


def address_of(cluster: Cluster, pod: str) -> str:
    """Return a pod's address."""
    return str(cluster.read("pod", pod, "-n", SPACE)["status"]["podIP"])


def test_a_pod_that_no_node_accepts_is_the_answer(cluster: Cluster) -> None:
    """With the scheduler's words."""
    answer = why(cluster, f"pod/{SPACE}/web-0", f"pod/{SPACE}/late:8080")

    assert (answer["code"], answer["findings"][0]["check"]) == (1, "pod-without-address")
    assert "nodes are available" in answer["findings"][0]["claim"]


def test_an_endpoint_that_comes_and_goes_does_not_convict_kube_proxy(cluster: Cluster) -> None:
    """The API's objects and the node's rules are of two moments; whichever way they differ, nothing
    is said for certain of kube-proxy, which runs.
    """
    for _ in range(ROUNDS):
        answer = why(cluster, f"pod/{SPACE}/web-0", f"svc/{SPACE}/flapping:http")
        certain = [one["check"] for one in answer["findings"] if one["certainty"] == 1]
        assert PROXY_BEHIND not in certain, answer
