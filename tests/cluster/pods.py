"""Pods and services on a test's cluster, and real connections between them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from scripts.kubernetes import control
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.image import BUSYBOX, WHO

PORT = 8080


class Answer(NamedTuple):
    """What a server said: who it is, and from which address it was asked."""

    server: str
    client: str


def make_namespace(name: str) -> dict[str, Any]:
    """Return a namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def make_pod(namespace: str, name: str, node: str, app: str) -> dict[str, Any]:
    """Return a pod that answers on its port, on the node that is named."""
    container = {
        "name": "server",
        "image": BUSYBOX,
        "imagePullPolicy": "Never",
        "command": ["httpd", "-f", "-h", "/www", "-p", f"0.0.0.0:{PORT}"],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": app}},
        "spec": {
            "nodeName": node,
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
        },
    }


def make_service(namespace: str, name: str, **spec: object) -> dict[str, Any]:
    """Return a service of the pods that are called as it is."""
    ports = [{"name": "http", "port": 80, "targetPort": PORT}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"selector": {"app": name}, "ports": ports, **spec},
    }


def create(cluster: Cluster, *objects: dict[str, Any], ready: bool = True) -> None:
    """Create objects, and wait until their pods are ready, where they are to be."""
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    cluster.kubectl("create", "-f", "-", given=json.dumps(listed))
    made = [item["metadata"] for item in objects if ready and item["kind"] == "Pod"]
    for about in made:
        running = partial(is_running, cluster, about["namespace"], about["name"])
        control.wait(running, f"pod {about['namespace']}/{about['name']}")


def is_running(cluster: Cluster, namespace: str, name: str) -> bool:
    """Tell whether a pod runs and is ready."""
    status = cluster.read("pod", name, "-n", namespace)["status"]
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in status.get("conditions", ())
    )


def ask(
    cluster: Cluster, namespace: str, pod: str, address: str, port: int = PORT
) -> Answer | None:
    """Connect from a pod, really; None where no answer comes."""
    request = f"printf 'GET {WHO} HTTP/1.0\\r\\n\\r\\n' | nc -w 3 {address} {port}"
    words = ("exec", "-n", namespace, pod, "--", "sh", "-c", f"{request} || true")
    return read_answer(cluster.kubectl(*words))


def read_answer(printed: str) -> Answer | None:
    """Read what a pod's server printed."""
    lines: Sequence[str] = printed.strip().splitlines()
    words = lines[-1].split() if lines else []
    return Answer(*words) if len(words) == len(Answer._fields) else None
