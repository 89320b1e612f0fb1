"""Files of OpenShift's must-gather."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.layout import ReadAs
from podpath.evidence.layouts.must_gather import LAYOUT
from podpath.evidence.layouts.table import NamedFile, find_bundles
from tests.evidence.layouts.placing import Told, told

PATHS = [
    ("namespaces/shop/core/pods.yaml", Told("kubectl -n shop get pods -o yaml")),
    (
        "namespaces/a/networking.k8s.io/networkpolicies.yaml",
        Told("kubectl -n a get networkpolicies.networking.k8s.io -o yaml"),
    ),
    ("network_logs/w-1.example_ovnkube-node-x7k2p_ip_addr", Told("ip addr", None, "w-1.example")),
    ("network_logs/w-1_iptables", Told("iptables-save -c", None, "w-1")),
    ("nodes/w-1/ethtool_features", Told("", how=ReadAs.ASIDE)),
    ("host_service_logs/masters/kubelet_service.log", Told("", how=ReadAs.LOG)),
    (
        "namespaces/sriov/pods/sriov-network-config-daemon-a1/ip_link",
        Told("ip link", None, "sriov-network-config-daemon-a1"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_what_files_hold(path: str, expected: Told | None) -> None:
    """A file's path says its command, its namespace and its host."""
    assert expected == told(LAYOUT, path)


def test_recognition() -> None:
    """The bundle is known by its files, wherever its root is, and its node by what it says."""
    files = [("namespaces/shop/core/pods.yaml", b"kind: PodList\n")]
    found = find_bundles([NamedFile(f"ticket/{name}", data) for name, data in files])
    assert [(LAYOUT, "ticket/", None)] == [
        (bundle.layout, bundle.root, bundle.host) for bundle in found
    ]


def test_what_is_no_such_bundle() -> None:
    """Another folder of pods is none."""
    assert () == find_bundles([NamedFile(name, b"1\n") for name in ("shop/core/pods.yaml",)])
