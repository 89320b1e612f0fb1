"""Tests of `cluster.pods` against the real API server: nothing happens to another pod than the
one that was judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.kube import access
from podpath.kube.client import Client, Refused
from podpath_protect.cluster import pods
from podpath_protect.cluster.objects import KubePod, Metadata
from tests import kube_objects as kube
from tests.apiserver import ApiServer
from tests.kube.scripted import Answer, Asked, Scripted, refusal

SPACE = "verbs"
SOME = KubePod(metadata=Metadata(name="web-1", namespace="shop", uid="u-1", resource_version="7"))


@pytest.fixture(scope="module")
def server(api_server: ApiServer) -> ApiServer:
    """Provide the server with a namespace."""
    api_server.apply(kube.namespace(SPACE))
    return api_server


@pytest.fixture
def client(server: ApiServer) -> Iterator[Client]:
    """Provide the admin's client."""
    with Client(access.find(server.kubeconfig())) as client:
        yield client


def made(server: ApiServer, client: Client, name: str) -> KubePod:
    """Create a pod that runs and is ready, for others may always be evicted, and read it."""
    server.apply(kube.pod(name, namespace=SPACE, labels={"app": name}))
    server.set_status(
        "pod",
        SPACE,
        name,
        {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    )
    return client.read(KubePod, f"/api/v1/namespaces/{SPACE}/pods/{name}")


def names(server: ApiServer) -> set[str]:
    """Name the pods that are there."""
    return {pod["metadata"]["name"] for pod in server.read("pods", "-n", SPACE)["items"]}


def test_a_label_is_set_and_taken_off(server: ApiServer, client: Client) -> None:
    """A label comes and goes, and others stay."""
    pod = made(server, client, "labeled")

    pods.label(client, pod, {"podpath.dev/broken": "95"})
    assert {"app": "labeled", "podpath.dev/broken": "95"} == server.read(
        "pod", "labeled", "-n", SPACE
    )["metadata"]["labels"]
    pods.label(client, pod, {"podpath.dev/broken": None})
    assert {"app": "labeled"} == server.read("pod", "labeled", "-n", SPACE)["metadata"]["labels"]


def test_a_successor_of_the_same_name_is_not_labelled_nor_read_as_the_same(
    server: ApiServer, client: Client
) -> None:
    """When the name belongs to another pod by now, the label is refused and reading gives
    nothing.
    """
    before = made(server, client, "again")
    server.kubectl("-n", SPACE, "delete", "pod", "again", "--grace-period=0", "--force")
    assert pods.read(client, before) is None
    after = made(server, client, "again")

    with pytest.raises(Refused) as refused:
        pods.label(client, before, {"x": "y"})
    assert refused.value.code in pods.ANOTHER
    assert pods.read(client, before) is None
    assert after == pods.read(client, after)


@pytest.mark.parity("R5")
def test_a_pod_is_deleted_only_as_it_was_judged(server: ApiServer, client: Client) -> None:
    """A deletion with a version or UID that is no longer true is refused (409); with the true ones
    the pod goes.
    """
    judged = made(server, client, "judged")
    server.kubectl("-n", SPACE, "label", "pod", "judged", "meanwhile=healthy")

    with pytest.raises(Refused) as refused:
        pods.delete(client, judged)
    assert 409 == refused.value.code
    assert "judged" in names(server)

    now = pods.read(client, judged)
    assert now is not None
    pods.delete(client, now)
    assert "judged" not in names(server)


def test_a_dry_run_deletes_and_evicts_nothing(server: ApiServer, client: Client) -> None:
    """A dry run asks the server, which checks everything and does nothing."""
    pod = made(server, client, "dry")

    pods.delete(client, pod, dry_run=True)
    pods.Evictor(client).evict(pod, dry_run=True)
    pods.label(client, pod, {"x": "y"}, dry_run=True)

    assert "dry" in names(server)
    assert server.read("pod", "dry", "-n", SPACE)["metadata"]["labels"] == {"app": "dry"}


def test_eviction_falls_back_to_what_an_older_server_knows(
    server: ApiServer, client: Client
) -> None:
    """Kubernetes 1.20 refuses `policy/v1`: the pod is evicted by `policy/v1beta1`, which is then
    asked for first.
    """
    evictor = pods.Evictor(client)

    evictor.evict(made(server, client, "evicted"))

    assert "evicted" not in names(server)
    assert "policy/v1beta1" == evictor.version


def test_eviction_is_of_the_pod_that_was_judged(server: ApiServer, client: Client) -> None:
    """An eviction carries the preconditions too: a pod that changed since is left alone (409)."""
    judged = made(server, client, "changed")
    server.kubectl("-n", SPACE, "label", "pod", "changed", "meanwhile=healthy")

    with pytest.raises(Refused) as refused:
        pods.Evictor(client).evict(judged)

    assert 409 == refused.value.code
    assert "changed" in names(server)


def test_a_disruption_budget_is_obeyed(server: ApiServer, client: Client) -> None:
    """429: where a budget allows no disruption, the pod stays, and the refusal names the budget."""
    pod = made(server, client, "guarded")
    selector = {"matchLabels": {"app": "guarded"}}
    meta = {"name": "guard", "namespace": SPACE}
    spec = {"minAvailable": 1, "selector": selector}
    server.apply(
        {
            "apiVersion": "policy/v1beta1",
            "kind": "PodDisruptionBudget",
            "metadata": meta,
            "spec": spec,
        }
    )

    with pytest.raises(Refused) as refused:
        pods.Evictor(client).evict(pod)

    assert 429 == refused.value.code
    assert (
        "DisruptionBudget" in refused.value.causes or "disruption budget" in refused.value.message
    )
    assert "guarded" in names(server)


def test_a_budget_that_was_counted_is_obeyed_and_then_allows(
    server: ApiServer, client: Client
) -> None:
    """With its status written as the disruption controller writes it: no disruption is left (429),
    then one is.
    """
    pod = made(server, client, "counted")
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "counted"}}}
    meta = {"name": "counting", "namespace": SPACE}
    server.apply(
        {
            "apiVersion": "policy/v1beta1",
            "kind": "PodDisruptionBudget",
            "metadata": meta,
            "spec": spec,
        }
    )
    counted = {
        "observedGeneration": 1,
        "currentHealthy": 1,
        "desiredHealthy": 1,
        "expectedPods": 1,
        "disruptionsAllowed": 0,
    }
    server.set_status("pdb", SPACE, "counting", counted)

    with pytest.raises(Refused, match="violate the pod's disruption budget") as refused:
        pods.Evictor(client).evict(pod)
    kept = "counted" in names(server)
    server.set_status(
        "pdb", SPACE, "counting", counted | {"desiredHealthy": 0, "disruptionsAllowed": 1}
    )
    pods.Evictor(client).evict(pod)

    assert (429, True) == (refused.value.code, kept)
    assert "counted" not in names(server)


def test_a_newer_server_is_asked_once(tmp_path: Path) -> None:
    """A server that knows `policy/v1` evicts by it, with preconditions, at the first request."""

    def answer(_: Asked) -> Answer:
        return Answer(201, [b"{}"])

    with Scripted(answer) as server, Client(access.find(server.kubeconfig(tmp_path))) as client:
        evictor = pods.Evictor(client)
        evictor.evict(SOME, grace_seconds=5)

        assert "policy/v1" == evictor.version
        (asked,) = server.asked
        assert asked.path == "/api/v1/namespaces/shop/pods/web-1/eviction"
        assert (
            b'"preconditions":{"uid":"u-1","resourceVersion":"7"},"gracePeriodSeconds":5'
            in asked.body
        )


def test_a_pod_that_is_gone_is_not_asked_for_in_another_form(tmp_path: Path) -> None:
    """404 for the pod itself is no sign of an older server."""
    with (
        Scripted(lambda _: refusal(404, "NotFound")) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        with pytest.raises(Refused):
            pods.Evictor(client).evict(SOME)

        assert 1 == len(server.asked)
