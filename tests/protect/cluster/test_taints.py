"""Tests of `cluster.taints` against the real API server: one taint of ours, and nobody else's
touched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.kube import access
from podpath.kube.client import Client, Refused
from podpath_protect.cluster import taints
from podpath_protect.cluster.taints import NOT_READY
from tests import kube_objects as kube
from tests.apiserver import NOBODY, ApiServer
from tests.kube.scripted import Answer, Asked, Scripted, refusal

OTHERS = [
    {"key": "node.cilium.io/agent-not-ready", "effect": "NoSchedule"},
    {
        "key": "node.kubernetes.io/unreachable",
        "effect": "NoExecute",
        "timeAdded": "2026-11-22T02:00:00Z",
    },
    {"key": "team", "value": "shop", "effect": "NoSchedule"},
]


@pytest.fixture(scope="module")
def server(api_server: ApiServer) -> ApiServer:
    """Provide the server with a node that others tainted."""
    api_server.apply(kube.node("tainted"))
    api_server.kubectl(
        "patch", "node", "tainted", "--type=merge", "-p", json.dumps({"spec": {"taints": OTHERS}})
    )
    return api_server


@pytest.fixture
def client(server: ApiServer) -> Iterator[Client]:
    """Provide the admin's client."""
    with Client(access.find(server.kubeconfig())) as client:
        yield client


def held(server: ApiServer) -> list[dict[str, str]]:
    """Read the node's taints through kubectl."""
    taints: list[dict[str, str]] = server.read("node", "tainted")["spec"].get("taints", [])
    return sorted(taints, key=lambda taint: taint["key"])


def ordered(*more: dict[str, str]) -> list[dict[str, str]]:
    """Return the taints of the others, and more."""
    return sorted([*OTHERS, *more], key=lambda taint: taint["key"])


@pytest.mark.parity("G14")
def test_our_taint_comes_and_goes_among_others(server: ApiServer, client: Client) -> None:
    """Added once, removed whole, and what others put there stays to the letter."""
    assert "written" == taints.add(client, "tainted")
    assert ordered({"key": NOT_READY, "effect": "NoSchedule"}) == held(server)

    assert "written" == taints.remove(client, "tainted")
    assert ordered() == held(server)


def test_what_is_so_is_not_written(server: ApiServer, client: Client) -> None:
    """A second time nothing is written: the node's version stays."""
    taints.remove(client, "tainted")
    before = server.read("node", "tainted")["metadata"]["resourceVersion"]

    assert "unchanged" == taints.remove(client, "tainted")
    assert before == server.read("node", "tainted")["metadata"]["resourceVersion"]


def test_another_effect_replaces_ours(server: ApiServer, client: Client) -> None:
    """NoExecute, when it is wanted, takes the place of NoSchedule; there are never two of ours."""
    taints.add(client, "tainted")

    assert "written" == taints.add(client, "tainted", effect="NoExecute")
    ours = [taint for taint in held(server) if taint["key"] == NOT_READY]
    assert ["NoExecute"] == [taint["effect"] for taint in ours]
    taints.remove(client, "tainted")


def test_a_dry_run_writes_nothing(server: ApiServer, client: Client) -> None:
    """A dry run says that it would."""
    assert "would" == taints.add(client, "tainted", dry_run=True)
    assert ordered() == held(server)


def test_who_may_not_is_told(server: ApiServer) -> None:
    """Without a role the refusal of the server is raised."""
    with (
        Client(access.find(server.kubeconfig(NOBODY))) as client,
        pytest.raises(Refused, match="403"),
    ):
        taints.add(client, "tainted")


def test_a_conflict_is_read_again(tmp_path: Path) -> None:
    """Somebody who writes between our reading and writing loses nothing: the node is read again,
    their taint kept.
    """
    busy = {"left": 2}

    def answer(asked: Asked) -> Answer:
        if asked.verb == "PATCH" and busy["left"]:
            busy["left"] -= 1
            return refusal(409, "Conflict")
        return Answer(
            200,
            [
                b'{"metadata": {"name": "n", "uid": "u", "resourceVersion": "%d"}}'
                % len(scripted.asked)
            ],
        )

    with Scripted(answer) as scripted, Client(access.find(scripted.kubeconfig(tmp_path))) as client:
        assert "written" == taints.add(client, "n")
        assert ["GET", "PATCH"] * 3 == [asked.verb for asked in scripted.asked]
        assert b'"resourceVersion":"5"' in scripted.asked[-1].body


def test_a_stale_write_is_refused_by_the_real_server(server: ApiServer, client: Client) -> None:
    """The version that we send is what protects others: the real server refuses a write on an older
    one.
    """
    body = {"metadata": {"resourceVersion": "1"}, "spec": {"taints": []}}

    with pytest.raises(Refused) as refused:
        client.request(
            "PATCH", "/api/v1/nodes/tainted", body=body, content_type="application/merge-patch+json"
        )

    assert 409 == refused.value.code
    assert ordered() == held(server)
