"""What `deploy/policy` leaves a stolen token of the agent, on a server that knows such policies.

`PODPATH_NEWER_APISERVER` names a kube-apiserver of 1.30 or newer. None is shipped and Debian builds
none, so CI asks CEL's runtime alone (`test_policy`).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.kube import access
from podpath.kube.client import MERGE_PATCH, Client, Refused
from podpath_protect.cluster import conditions, pods, taints
from podpath_protect.cluster.objects import KubePod
from tests import apiserver
from tests import kube_objects as kube
from tests.apiserver import ApiServer

BINARY = os.environ.get("PODPATH_NEWER_APISERVER", "")
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
PATIENCE = 60.0
pytestmark = pytest.mark.skipif(
    not BINARY, reason="PODPATH_NEWER_APISERVER names no kube-apiserver of 1.30 or newer"
)


def bind_token(server: ApiServer, node: str) -> str:
    """Return the token that the kubelet of a node would give to the agent there."""
    name = f"agent-{node}"
    server.apply(kube.pod(name, namespace="podpath", node=node, serviceAccountName="podpath-agent"))
    asked = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": name}},
    }
    path = "/api/v1/namespaces/podpath/serviceaccounts/podpath-agent/token"
    told = server.kubectl("create", "--raw", path, "-f", "-", given=json.dumps(asked))
    return str(json.loads(told)["status"]["token"])


@pytest.fixture(scope="module")
def cluster() -> Iterator[ApiServer]:
    """Provide a server with the agent's access and policies, two nodes, and a pod on each."""
    with (
        apiserver.home() as home,
        ApiServer(Path(home), binary=Path(BINARY)) as server,
    ):
        taint = {"key": "team", "value": "shop", "effect": "NoSchedule"}
        ready = {"type": "Ready", "status": "True"}
        for name in ("mine", "other"):
            made = kube.node(name)
            made["metadata"] |= {"labels": {"zone": "a"}, "annotations": {"cni": "x"}}
            server.apply({**made, "spec": {"taints": [taint]}})
            server.set_status(
                "node", "default", name, {"conditions": [ready], "capacity": {"pods": "110"}}
            )
        server.apply(kube.namespace("shop"), kube.namespace("podpath"))
        server.kubectl("apply", "-f", DEPLOY / "base" / "access.yaml")
        server.kubectl("apply", "-k", DEPLOY / "policy")
        for space, node in (("shop", "mine"), ("shop", "other"), ("kube-system", "mine")):
            server.apply(kube.pod(f"web-{node}", namespace=space, node=node, labels={"app": "web"}))
            server.set_status("pod", space, f"web-{node}", kube.status("v", kube.RUNNING))
        yield server


@pytest.fixture(scope="module")
def token(cluster: ApiServer) -> str:
    """Provide the token of the agent on `mine`, once the policies are in force."""
    made = bind_token(cluster, "mine")
    until = time.monotonic() + PATIENCE
    while "denied request" not in (told := patch(cluster, made, "nodes/other", LABEL)):
        assert time.monotonic() < until, told
        time.sleep(0.2)
    return made


def patch(server: ApiServer, token: str, path: str, body: kube.Object) -> str:
    """Patch as a thief would, without a look before, and return what the server says."""
    with Client(access.find(server.kubeconfig(token))) as client:
        try:
            client.request("PATCH", f"/api/v1/{path}", body=body, content_type=MERGE_PATCH)
        except Refused as refused:
            return str(refused)
    return "done"


def spec(**fields: object) -> kube.Object:
    """Return a patch of a spec."""
    return {"spec": fields}


LABEL: kube.Object = {"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}}
OURS = {"key": "podpath.dev/not-ready", "effect": "NoSchedule"}
THEIRS = {"key": "team", "value": "shop", "effect": "NoSchedule"}
OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "gone"}
NODE_SPECS: tuple[kube.Object, ...] = (
    LABEL,
    {"metadata": {"labels": {"zone": None}}},
    {"metadata": {"annotations": {"cni": None}}},
    {"metadata": {"finalizers": ["x.test/y"]}},
    {"metadata": {"ownerReferences": [OWNER]}},
    spec(taints=None),
    spec(taints=[OURS]),
    spec(taints=[THEIRS, {"key": "mine", "effect": "NoExecute"}]),
    spec(unschedulable=True),
    spec(podCIDR="10.6.0.0/24", podCIDRs=["10.6.0.0/24"]),
    spec(providerID="cloud://other"),
)
NODE_STATUSES: tuple[kube.Object, ...] = (
    {"conditions": []},
    {"conditions": [{"type": "Ready", "status": "False"}]},
    {"capacity": {"pods": "1"}},
    {"allocatable": {"cpu": "1"}},
    {"addresses": [{"type": "InternalIP", "address": "10.6.6.6"}]},
    {"daemonEndpoints": {"kubeletEndpoint": {"Port": 6666}}},
    {"nodeInfo": {"machineID": "other"}},
    {"volumesInUse": ["kubernetes.io/csi/v"]},
    {"images": [{"names": ["registry.test/evil"]}]},
)
POD_STATUSES: tuple[kube.Object, ...] = (
    {"metadata": {"labels": {"app": "other"}}},
    {"metadata": {"labels": {"app": None}}},
    {"metadata": {"labels": {"role": "db"}}},
    {"metadata": {"annotations": {"a": "b"}}},
    {"metadata": {"finalizers": ["x.test/y"]}},
    {"status": {"phase": "Failed"}},
    {"status": {"podIPs": [{"ip": "10.6.6.6"}]}},
    {"status": {"initContainerStatuses": []}},
)


def test_the_agent_does_what_it_does(cluster: ApiServer, token: str) -> None:
    """Its taint and condition come and go on its own node, it labels and evicts a pod there."""
    with Client(access.find(cluster.kubeconfig(token))) as client:
        assert "written" == taints.add(client, "mine")
        assert "written" == taints.remove(client, "mine")
        for ready in (False, True):
            conditions.report(client, "mine", conditions.NodeStanding(ready, "why"), 1.8e9)
        pod = client.read(KubePod, "/api/v1/namespaces/shop/pods/web-mine")
        for value in ("true", None):
            pods.label(client, pod, {"podpath.dev/unredirected": value})
        fresh = client.read(KubePod, "/api/v1/namespaces/shop/pods/web-mine")
        pods.Evictor(client).evict(fresh, dry_run=True)

    node = cluster.read("node", "mine")
    keys = [taint["key"] for taint in node["spec"]["taints"]]
    assert ("team" in keys, taints.NOT_READY in keys) == (True, False)
    assert {"Ready": "True", "PodpathReady": "True"} == {
        each["type"]: each["status"] for each in node["status"]["conditions"]
    }


@pytest.mark.parametrize("node", ["mine", "other"])
@pytest.mark.parametrize("body", NODE_SPECS, ids=json.dumps)
def test_a_thief_writes_nothing_else_of_nodes(
    cluster: ApiServer, token: str, node: str, body: kube.Object
) -> None:
    """Labels, owners, others' taints, whether pods are scheduled: refused, by name of the policy,
    for the token's own node too.
    """
    before = cluster.read("node", node)

    assert "ValidatingAdmissionPolicy 'podpath-agent-nodes'" in patch(
        cluster, token, f"nodes/{node}", body
    )
    assert before == cluster.read("node", node)


@pytest.mark.parametrize("node", ["mine", "other"])
@pytest.mark.parametrize("status", NODE_STATUSES, ids=json.dumps)
def test_a_thief_writes_nothing_else_of_nodes_status(
    cluster: ApiServer, token: str, node: str, status: kube.Object
) -> None:
    """What the kubelet says of its node stays what it said."""
    told = patch(cluster, token, f"nodes/{node}/status", {"status": status})

    assert "ValidatingAdmissionPolicy 'podpath-agent-nodes'" in told


@pytest.mark.parametrize("node", ["mine", "other"])
@pytest.mark.parametrize("body", POD_STATUSES, ids=json.dumps)
def test_a_thief_writes_nothing_else_of_pods(
    cluster: ApiServer, token: str, node: str, body: kube.Object
) -> None:
    """No label by which services find a pod, nothing that the kubelet says of it."""
    told = patch(cluster, token, f"namespaces/shop/pods/web-{node}/status", body)

    assert "ValidatingAdmissionPolicy 'podpath-agent-pods'" in told


def test_another_nodes_agent_marks_nothing_here(cluster: ApiServer, token: str) -> None:
    """Its own taint, condition and label, by the token of another node or of none, are refused."""
    unbound = cluster.kubectl("-n", "podpath", "create", "token", "podpath-agent").strip()
    label = {"metadata": {"labels": {"podpath.dev/unredirected": "true"}}}
    for each, where in ((token, "other"), (unbound, "mine"), (unbound, "other")):
        told = [
            patch(cluster, each, f"nodes/{where}", spec(taints=[THEIRS, OURS])),
            patch(cluster, each, f"namespaces/shop/pods/web-{where}/status", label),
        ]
        assert "denied request: an agent writes its own node alone" in told[0]
        assert "denied request: an agent writes pods of its own node alone" in told[1]


@pytest.mark.parametrize(
    ("space", "options", "allowed"),
    [
        ("shop", {"preconditions": {"uid": ""}}, True),
        ("shop", {}, False),
        ("shop", None, False),
        ("kube-system", {"preconditions": {"uid": ""}}, False),
    ],
)
def test_evictions_are_held(
    cluster: ApiServer,
    token: str,
    space: str,
    options: kube.Object | None,
    allowed: bool,  # noqa: FBT001  # parametrized
) -> None:
    """By the pod's UID, and never where the cluster lives; tried without doing it."""
    pod = cluster.read("pod", "web-mine", "-n", space)
    if options:
        options = {"preconditions": {"uid": pod["metadata"]["uid"]}}
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "web-mine", "namespace": space},
        **({} if options is None else {"deleteOptions": options}),
    }
    path = f"/api/v1/namespaces/{space}/pods/web-mine/eviction?dryRun=All"
    told = cluster.kubectl(
        "create", "--raw", path, "-f", "-", given=json.dumps(body), token=token, check=False
    )

    assert allowed is ("ValidatingAdmissionPolicy 'podpath-agent-evictions'" not in told), told


def test_others_are_not_held(cluster: ApiServer, token: str) -> None:
    """An admin writes as before, whatever it is."""
    del token  # the policies are in force
    for body in NODE_SPECS[:3]:
        words = ["patch", "node/other", "--type=merge", "--dry-run=server", "-p", json.dumps(body)]
        assert "patched" in cluster.kubectl(*words)
