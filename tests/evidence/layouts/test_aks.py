"""An AKS node's files."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.aks import LAYOUT
from podpath.evidence.layouts.layout import ReadAs
from podpath.evidence.layouts.table import NamedFile, find_bundles
from tests.evidence.layouts.placing import Told, told

PATHS = [
    ("collect/ip_4_addr.json", Told("ip -4 -d -j addr show")),
    ("collect/ip_netns_cni-1/ip_4_route.json", Told("ip -4 -d -j route show", "cni-1")),
    ("collect/ip_netns_cni-1/iptables.txt", Told("iptables -L -vn --line-numbers", "cni-1")),
    ("collect/ip_netns_cni-1/nftables.txt", Told("nft -n list ruleset")),
    ("collect/sysctl.txt", Told("sysctl -a")),
    ("var/log/syslog", Told("", how=ReadAs.LOG)),
    ("collect/lscpu.txt", Told("", how=ReadAs.ASIDE)),
]  # fmt: skip


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_what_files_hold(path: str, expected: Told | None) -> None:
    """A file's path says its command, its namespace and its host."""
    assert expected == told(LAYOUT, path)


def test_recognition() -> None:
    """The bundle is known by its files, wherever its root is, and its node by what it says."""
    files = [
        ("collect/ip_link.json", b"[]"),
        ("collect/ip_rule.json", b"[]"),
        ("etc/hostname", b"aks-np-1-vmss000000\n"),
    ]
    found = find_bundles([NamedFile(f"ticket/{name}", data) for name, data in files])
    assert [(LAYOUT, "ticket/", "aks-np-1-vmss000000")] == [
        (bundle.layout, bundle.root, bundle.host) for bundle in found
    ]


def test_what_is_no_such_bundle() -> None:
    """A single file of such a name is none."""
    assert () == find_bundles([NamedFile(name, b"1\n") for name in ("collect/ip_link.json",)])
