"""Bundles that hold objects of a cluster: one fault in each is named, and the twin without it names
nothing.
"""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

import podpath
from podpath.checks.finding import WEIGHTY
from podpath.library.diagnosis import diagnose

Files = Mapping[str, str]
POD = """\
apiVersion: v1
kind: PodList
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: web-0, namespace: shop, labels: {app: web}}
  spec: {nodeName: worker-1, containers: [{name: c, ports: [{containerPort: 8080}]}]}
  status: {phase: Running, podIP: 10.128.1.5, hostIP: 192.168.50.11}
"""
SERVICE = """\
apiVersion: v1
kind: ServiceList
items:
- apiVersion: v1
  kind: Service
  metadata:
    name: web
    namespace: shop
  spec:
    clusterIP: 172.30.44.7
    selector:
      app: web
    ports:
    - port: 80
      protocol: TCP
      targetPort: 8080
"""
ENDPOINTS = """\
apiVersion: v1
kind: EndpointsList
items:
- apiVersion: v1
  kind: Endpoints
  metadata:
    name: web
    namespace: shop
  subsets:
"""
READY = """\
  - addresses:
    - ip: 10.128.1.5
    ports:
    - port: 8080
"""
UNREADY = READY.replace("addresses", "notReadyAddresses")


def listed(kind: str, *items: object) -> str:
    """Spell a list as kubectl does."""
    return json.dumps(
        {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {}, "items": items}, indent=4
    )


def must_gather(subsets: str) -> Files:
    """Make a must-gather with a service whose endpoints are these."""
    top = "must-gather.local.1/quay-io-x"
    return {
        f"{top}/version": "openshift/must-gather\n4.16\n",
        f"{top}/cluster-scoped-resources/core/nodes/worker-1.yaml": (
            "apiVersion: v1\nkind: Node\nmetadata:\n  name: worker-1\n"
        ),
        f"{top}/namespaces/shop/core/pods.yaml": POD,
        f"{top}/namespaces/shop/core/services.yaml": SERVICE,
        f"{top}/namespaces/shop/core/endpoints.yaml": ENDPOINTS + subsets,
        f"{top}/namespaces/shop/apps/deployments.yaml": (
            "apiVersion: apps/v1\nkind: DeploymentList\nitems: []\n"
        ),
        f"{top}/host_service_logs/masters/kubelet_service.log": (
            "Nov 22 10:00:00 m1 kubelet[1]: Started\n"
        ),
    }


def cluster_dump(selector: str) -> Files:
    """Make a `kubectl cluster-info dump` with a service that selects these pods."""
    pod = {
        "metadata": {"name": "web-0", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "c", "ports": [{"containerPort": 8080}]}],
        },
        "status": {"phase": "Running", "podIP": "10.244.1.5", "hostIP": "192.168.50.11"},
    }
    port = {"protocol": "TCP", "port": 80, "targetPort": 8080}
    service = {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"clusterIP": "10.96.44.7", "selector": {"app": selector}, "ports": [port]},
    }  # fmt: skip
    return {
        "dump/nodes.json": listed(
            "Node", {"metadata": {"name": "n1"}, "spec": {"podCIDR": "10.244.1.0/24"}}
        ),
        "dump/kube-system/pods.json": listed("Pod"),
        "dump/kube-system/services.json": listed("Service"),
        "dump/shop/pods.json": listed("Pod", pod),
        "dump/shop/services.json": listed("Service", service),
        "dump/shop/web-0/logs.txt": (
            "==== START logs for container c of pod shop/web-0 ====\nlistening\n"
        ),
    }


def support_bundle(ingress: object) -> Files:
    """Make a support bundle of troubleshoot.sh with a policy, and sysctls of two nodes."""
    spec = {
        "podSelector": {"matchLabels": {"app": "db"}},
        "policyTypes": ["Ingress"],
        "ingress": ingress,
    }
    policy = {"metadata": {"name": "deny", "namespace": "shop"}, "spec": spec}
    top = "support-bundle"
    return {
        f"{top}/version.yaml": "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\n",
        f"{top}/cluster-resources/nodes.json": listed("Node"),
        f"{top}/cluster-resources/network-policy/shop.json": listed("NetworkPolicy", policy),
        f"{top}/cluster-resources/network-policy-errors.json": "null",
        **{
            f"{top}/host-collectors/{name}/system/sysctl.json": '{"net.ipv4.ip_forward": "1"}'
            for name in ("n1", "n2")
        },
    }


CASES = [
    ("no-endpoints", must_gather("  []\n"), must_gather(READY)),
    ("no-endpoints", must_gather(UNREADY), must_gather(READY)),
    ("selector-mismatch", cluster_dump("webb"), cluster_dump("web")),
    ("network-policy", support_bundle([]), support_bundle([{"from": [{"podSelector": {}}]}])),
]


def write_folder(top: Path, files: Files) -> Path:
    """Write files as a folder."""
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


@pytest.mark.parametrize(("check", "bad", "good"), CASES)
def test_the_fault_is_named_and_its_twin_is_quiet(
    tmp_path: Path, check: str, bad: Files, good: Files
) -> None:
    """The check that knows the fault is first; of the twin nothing is said."""
    findings = diagnose(write_folder(tmp_path / "bad", bad)).findings
    assert [check] == [finding.check for finding in findings if finding.severity in WEIGHTY]
    twin = diagnose(write_folder(tmp_path / "good", good)).findings
    assert [] == [finding.check for finding in twin if finding.severity in WEIGHTY]


def test_nodes_of_a_support_bundle_are_kept_apart(tmp_path: Path) -> None:
    """Each node's sysctls are its own; objects are all nodes'."""
    nodes = podpath.read(write_folder(tmp_path, support_bundle([]))).nodes
    assert ["n1", "n2"] == sorted(node.name for node in nodes)
    assert all(node.facts.objects for node in nodes)


def test_an_archive_says_what_its_folder_says(tmp_path: Path) -> None:
    """A tar in a tar, and a zip, hold the same bundle; a link in it loses nothing."""
    files = must_gather("  []\n")
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("must-gather.local.1/latest")
        link.type, link.linkname = tarfile.SYMTYPE, "quay-io-x"
        archive.addfile(link)
    outer = tmp_path / "case.tar"
    with tarfile.open(outer, "w") as archive:
        info = tarfile.TarInfo("upload/must-gather.tar.gz")
        info.size = len(inner.getvalue())
        archive.addfile(info, io.BytesIO(inner.getvalue()))
    zipped = tmp_path / "case.zip"
    with zipfile.ZipFile(zipped, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    for path in (outer, zipped):
        assert ["no-endpoints"] == [finding.check for finding in diagnose(path).findings], path
