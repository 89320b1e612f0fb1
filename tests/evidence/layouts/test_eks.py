"""The EKS log collector's files."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.eks import LAYOUT
from podpath.evidence.layouts.layout import ReadAs
from podpath.evidence.layouts.table import NamedFile, find_bundles
from tests.evidence.layouts.placing import Told, told

PATHS = [
    ("networking/iptables-save.txt", Told("iptables-save")),
    (
        "networking/ip6tables-nat.txt",
        Told("ip6tables --wait 1 --numeric --verbose --list --table nat"),
    ),
    ("networking/iproute.txt", Told("ip route show table all")),
    ("cni/10-aws.conflist", Told("cat /etc/cni/net.d/10-aws.conflist")),
    ("var_log/aws-routed-eni/ipamd.log", Told("", how=ReadAs.LOG)),
    ("system/ps.txt", Told("", how=ReadAs.ASIDE)),
    ("notes.txt", None),
]  # fmt: skip


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_what_files_hold(path: str, expected: Told | None) -> None:
    """A file's path says its command, its namespace and its host."""
    assert expected == told(LAYOUT, path)


def test_recognition() -> None:
    """The bundle is known by its files, wherever its root is, and its node by what it says."""
    files = [
        ("networking/iprule.txt", b"0: from all lookup local\n"),
        ("kernel/uname.txt", b"Linux ip-10-0-1-5.ec2.internal 6.1 \n"),
    ]
    found = find_bundles([NamedFile(f"ticket/{name}", data) for name, data in files])
    assert [(LAYOUT, "ticket/", "ip-10-0-1-5.ec2.internal")] == [
        (bundle.layout, bundle.root, bundle.host) for bundle in found
    ]


def test_what_is_no_such_bundle() -> None:
    """A single file of such a name is none."""
    assert () == find_bundles([NamedFile(name, b"1\n") for name in ("networking/iprule.txt",)])
