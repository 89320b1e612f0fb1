"""The node's condition on a real API server: by the right that `deploy/policy` grants, among the
kubelet's own conditions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podpath.kube import access
from podpath.kube.client import Client, Refused
from podpath_protect.cluster import conditions
from podpath_protect.cluster.conditions import NodeStanding
from tests import kube_objects as kube
from tests.apiserver import AGENT, ApiServer

NODE = "conditioned"
ROLES = Path(__file__).resolve().parents[3] / "deploy"
KUBELETS = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "posting"}
NOW = 1_795_312_800.0
BAD = NodeStanding(ready=False, why="sysctl: ip_forward is 0\x1b[2J")
GOOD = NodeStanding(ready=True, why="")


@pytest.fixture
def server(api_server: ApiServer) -> Iterator[ApiServer]:
    """Provide the server with a node that its kubelet calls ready, and the agent's roles."""
    api_server.apply(kube.node(NODE))
    status = json.dumps({"status": {"conditions": [KUBELETS]}})
    api_server.kubectl(
        "patch", "node", NODE, "--subresource=status", "--type=strategic", "-p", status
    )
    if "podpath" not in api_server.kubectl("get", "namespaces", "-o", "name"):
        api_server.kubectl("create", "namespace", "podpath")
    roles = (ROLES / "base" / "access.yaml", ROLES / "policy" / "condition.yaml")
    for role in roles:
        api_server.kubectl("apply", "-f", role)
    api_server.await_right(AGENT, "patch", "nodes", "--subresource=status")
    api_server.await_right(AGENT, "get", "nodes")
    yield api_server
    for role in roles:
        api_server.kubectl("delete", "-f", role)
    api_server.kubectl("delete", "node", NODE)


def held(server: ApiServer) -> dict[str, dict[str, Any]]:
    """Read the node's conditions by their types."""
    status = server.read("node", NODE)["status"]
    return {each["type"]: each for each in status["conditions"]}


def test_the_condition_stands_beside_the_kubelets(server: ApiServer) -> None:
    """It changes when the node's standing does, is renewed in between, and nothing else changes."""
    before = held(server)["Ready"]
    with Client(access.find(server.kubeconfig(AGENT))) as client:
        first = conditions.report(client, NODE, BAD, NOW)
        unready = held(server)["PodpathReady"]
        again = conditions.report(client, NODE, BAD, NOW + 300)
        renewed = held(server)["PodpathReady"]
        well = conditions.report(client, NODE, GOOD, NOW + 600)

    assert (True, False, True) == (first, again, well)
    assert ("False", "PathNotReady") == (unready["status"], unready["reason"])
    assert "ip_forward is 0" in unready["message"]
    assert "\x1b" not in unready["message"]
    assert unready["lastTransitionTime"] == renewed["lastTransitionTime"]
    assert unready["lastHeartbeatTime"] < renewed["lastHeartbeatTime"]
    after = held(server)
    assert ("True", "PathReady") == (
        after["PodpathReady"]["status"],
        after["PodpathReady"]["reason"],
    )
    assert before == after["Ready"]


def test_without_its_role_it_is_refused(server: ApiServer) -> None:
    """The base role holds no such right: who wants the condition takes the policy with it."""
    server.kubectl("delete", "-f", ROLES / "policy" / "condition.yaml")
    server.await_right(AGENT, "patch", "nodes", "--subresource=status", there=False)
    try:
        with (
            Client(access.find(server.kubeconfig(AGENT))) as client,
            pytest.raises(Refused, match="403"),
        ):
            conditions.report(client, NODE, BAD, NOW)
    finally:
        server.kubectl("apply", "-f", ROLES / "policy" / "condition.yaml")
