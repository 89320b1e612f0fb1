"""Files of calicoctl's diagnostics, of a node and of a cluster."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.calico import CLUSTER, NODE
from podpath.evidence.layouts.layout import BundleLayout, ReadAs
from podpath.evidence.layouts.table import NamedFile, find_bundles
from tests.evidence.layouts.placing import Told, told

PATHS = [
    (NODE, "ipv4_tables", Told("iptables-save -c")),
    (NODE, "ipv4_addr", Told("ip -4 addr")),
    (NODE, "logs/calico-node.log", Told("", how=ReadAs.LOG)),
    (CLUSTER, "nodes/n1/ip-route.txt", Told("ip route show table all", None, "n1")),
    (CLUSTER, "nodes/n1/iptables-nft-save.txt", Told("iptables-nft-save -c", None, "n1")),
    (CLUSTER, "nodes/n1/calico-system/calico-node-x.log", Told("", None, "n1", ReadAs.LOG)),
    (
        CLUSTER,
        "cluster/networkpolicies.yaml",
        Told("kubectl get networkpolicies --all-namespaces -o yaml"),
    ),
    (CLUSTER, "links/calico-system/x.log", Told("", how=ReadAs.ASIDE)),
]


@pytest.mark.parametrize(("layout", "path", "expected"), PATHS)
def test_what_files_hold(layout: BundleLayout, path: str, expected: Told) -> None:
    """A file's path says its command and its host."""
    assert expected == told(layout, path)


def test_recognition() -> None:
    """Either is known by two of its files, and a node's by the name that it gives."""
    node = [
        NamedFile("diagnostics/ipv4_route", b""),
        NamedFile("diagnostics/ipv4_addr", b""),
        NamedFile("diagnostics/hostname", b"n7\n"),
    ]
    assert [(NODE, "diagnostics/", "n7")] == [
        (bundle.layout, bundle.root, bundle.host) for bundle in find_bundles(node)
    ]
    cluster = [
        NamedFile("d/nodes/n1/ip-rule.txt", b""),
        NamedFile("d/nodes/n1/iptables-nft-save.txt", b""),
    ]
    assert [(CLUSTER, "d/")] == [(bundle.layout, bundle.root) for bundle in find_bundles(cluster)]
    assert () == find_bundles(node[:1])
