"""A sosreport's files."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.layout import ReadAs
from podpath.evidence.layouts.sosreport import LAYOUT, mangle
from podpath.evidence.layouts.table import NamedFile, find_bundles
from tests.evidence.layouts.placing import Told, told

PATHS = [
    ("sos_commands/networking/ip_-d_address", Told("ip -d address")),
    ("sos_commands/networking/ethtool_-k_eth0", Told("ethtool -k eth0")),
    (
        "sos_commands/networking/namespaces/cni-1/ip_netns_exec_cni-1_ip_-4_rule_list",
        Told("ip -4 rule list", "cni-1"),
    ),
    (
        "sos_commands/networking/namespaces/a_b/ip_netns_exec_a_b_sysctl_-a",
        Told("sysctl -a", "a_b"),
    ),
    (
        "sos_commands/networking/ip_netns_exec_qrouter-1_iptables-save",
        Told("iptables-save", "qrouter-1"),
    ),
    ("sos_commands/networking/namespaces/cni-1/whatever", Told("", "cni-1", how=ReadAs.SNIFFED)),
    ("sos_commands/firewall_tables/iptables_-t_nat_-nvL", Told("iptables -t nat -nvL")),
    ("sos_commands/kernel/sysctl_-a", Told("sysctl -a")),
    ("proc/sys/net/ipv4/ip_forward", Told("cat /proc/sys/net/ipv4/ip_forward")),
    ("var/log/messages", Told("", how=ReadAs.LOG)),
    ("sos_commands/yum/yum_list", Told("", how=ReadAs.ASIDE)),
]  # fmt: skip


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_what_files_hold(path: str, expected: Told | None) -> None:
    """A file's path says its command, its namespace and its host."""
    assert expected == told(LAYOUT, path)


def test_recognition() -> None:
    """The bundle is known by its files, wherever its root is, and its node by what it says."""
    files = [
        ("sos_commands/host/hostname", b"worker-1.example\n"),
        ("sos_commands/networking/ip_-d_address", b"1: lo\n"),
    ]
    found = find_bundles([NamedFile(f"ticket/{name}", data) for name, data in files])
    assert [(LAYOUT, "ticket/", "worker-1.example")] == [
        (bundle.layout, bundle.root, bundle.host) for bundle in found
    ]


def test_what_is_no_such_bundle() -> None:
    """A file of that name is none."""
    assert () == find_bundles([NamedFile(name, b"1\n") for name in ("sos_commands.txt",)])


def test_names_of_files() -> None:
    """A command's file is named after it, without its folder."""
    assert "iptables_-t_nat_-nvL" == mangle("/usr/sbin/iptables -t nat -nvL")
    assert "cat_.etc.hosts" == mangle("cat /etc/hosts")
