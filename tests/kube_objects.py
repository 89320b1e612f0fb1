"""Kubernetes objects as their authors and kubelets write them: manifests and statuses for the tests
that need an API server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]


def namespace(name: str) -> Object:
    """Make a namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def node(name: str) -> Object:
    """Make a node."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def owner(
    name: str = "web-5d9c",
    kind: str = "ReplicaSet",
    uid: str = "6a2b0c9e-0000-4000-8000-00000000000a",
) -> Object:
    """Make a reference to the controller that makes a pod again."""
    version = (
        "batch/v1" if kind == "Job" else "v1" if kind == "ReplicationController" else "apps/v1"
    )
    return {
        "apiVersion": version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": False,
    }


LINKERD_PROXY: Object = {
    "linkerd-proxy": {
        "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS": "127.0.0.1:4140,[::1]:4140",
        "LINKERD2_PROXY_INBOUND_LISTEN_ADDR": "[::]:4143",
    }
}
"""What linkerd's injector tells its proxy where IPv6 is on."""


def pod(
    name: str,
    *,
    namespace: str = "default",
    node: str = "node-a",
    init: tuple[str, ...] = (),
    containers: tuple[str, ...] = ("app",),
    env: Mapping[str, Mapping[str, str]] = LINKERD_PROXY,
    **more: Any,  # noqa: ANN401  # labels, annotations, owners, and fields of the spec
) -> Object:
    """Make a pod that is bound to a node already, so that no scheduler is needed."""
    metadata: Object = {"name": name, "namespace": namespace}
    for key in ("labels", "annotations"):
        if key in more:
            metadata[key] = more.pop(key)
    if "owners" in more:
        metadata["ownerReferences"] = more.pop("owners")
    spec: Object = {
        "nodeName": node,
        "containers": [
            {"name": each, "image": "registry.test/image", "env": _variables(env.get(each, {}))}
            for each in containers
        ],
        "terminationGracePeriodSeconds": 0,
        **more,
    }
    if init:
        spec["initContainers"] = [{"name": each, "image": "registry.test/image"} for each in init]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _variables(told: Mapping[str, str]) -> list[Object]:
    return [{"name": name, "value": value} for name, value in told.items()]


def ended(code: int, message: str = "", reason: str = "") -> Object:
    """Make the state of a container that ended."""
    state = {
        "exitCode": code,
        "reason": reason or ("Completed" if code == 0 else "Error"),
        "message": message,
    }
    return {"terminated": {key: value for key, value in state.items() if value != ""}}


CRASH_LOOP: Object = {
    "waiting": {"reason": "CrashLoopBackOff", "message": "back-off restarting failed container"}
}
RUNNING: Object = {"running": {"startedAt": "2026-11-22T02:00:00Z"}}


def status(
    validator: str,
    state: Object,
    last: Object | None = None,
    *,
    phase: str = "Pending",
    ips: tuple[str, ...] = (),
    restarts: int = 0,
) -> Object:
    """Make a pod's status with one init container's state and last state."""
    one = {"name": validator, "state": state, "lastState": last or {}, "restartCount": restarts}
    written: Object = {
        "phase": phase,
        "initContainerStatuses": [one | {"ready": False, "image": "i", "imageID": ""}],
    }
    if ips:
        written |= {"podIP": ips[0], "podIPs": [{"ip": ip} for ip in ips]}
    return written
