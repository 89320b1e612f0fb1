"""What is deployed on a test's cluster: podpath's image, the namespaces and roles as they are
shipped, and agents.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from scripts.kubernetes import control, node
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.image import PODPATH, write_podpath_image
from tests.cluster import pods

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
_CONFIG = """\
[kubernetes]
taint = false
events = false
[snapshot]
cache = "1s"
"""
_DROPS = """\
[drops]
metrics = true
watchers = 2
"""
CREDENTIALS: list[dict[str, Any]] = [
    {
        "op": "add",
        "path": "/spec/template/spec/volumes/-",
        "value": {
            "name": "credentials",
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}},
                    {"configMap": {"name": "authority"}},
                ]
            },
        },
    },
    {
        "op": "add",
        "path": "/spec/template/spec/containers/0/volumeMounts/-",
        "value": {
            "name": "credentials",
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            "readOnly": True,
        },
    },
]
"""What admission adds to a pod on other clusters: the token of its service account."""


def supply(cluster: Cluster, space: str) -> None:
    """Put podpath's image on the nodes, a pod on each with their service, and the namespaces and
    roles as they are shipped.
    """
    image = write_podpath_image(cluster.plan.home)
    for each in cluster.nodes.values():
        node.import_images(each, [image])
    image.unlink()
    pods.create(
        cluster,
        pods.make_namespace(space),
        pods.make_pod(space, "web-0", "node1", "web"),
        pods.make_pod(space, "api-0", "node2", "api"),
        pods.make_service(space, "api"),
    )
    for name in ("base/namespace", "collect/namespace", "collect/access", "why/access"):
        cluster.kubectl("apply", "-f", str(DEPLOY / f"{name}.yaml"))


@contextmanager
def agents(cluster: Cluster, folder: Path, *, drops: bool = False) -> Iterator[None]:
    """Deploy the shipped DaemonSet, which serves snapshots and keeps nothing; with `drops`, it
    hears those too.
    """
    shutil.copytree(DEPLOY, folder)
    shape = "drops" if drops else "snapshot"
    config = _CONFIG + (_DROPS if drops else "")
    (folder / shape / "agent.toml").write_text(config, encoding="utf-8")
    authority = (cluster.plan.folder("control") / "certs" / "apiserver.crt").read_text("ascii")
    (folder / "ca.crt").write_text(authority, encoding="ascii")
    content = {
        "resources": [shape],
        "images": [{"name": "podpath", "newName": PODPATH.rpartition(":")[0], "newTag": "1"}],
        "configMapGenerator": [
            {
                "name": "authority",
                "namespace": "podpath",
                "files": ["ca.crt"],
                "options": {"disableNameSuffixHash": True},
            }
        ],
        "patches": [{"patch": json.dumps(CREDENTIALS), "target": {"kind": "DaemonSet"}}],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    cluster.kubectl("apply", "-k", str(folder))
    try:
        control.wait(lambda: are_ready(cluster), "the agents", cluster.nodes["node1"], "kubelet")
        yield
    finally:
        cluster.kubectl("delete", "-k", str(folder), "--wait=false")


def are_ready(cluster: Cluster) -> bool:
    """Tell whether an agent is ready on every node."""
    status = cluster.read("daemonset", "podpath-agent", "-n", "podpath")["status"]
    return bool(status.get("numberReady") == len(cluster.nodes))
