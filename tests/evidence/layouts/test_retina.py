"""Files of Retina's capture."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.layout import ReadAs
from podpath.evidence.layouts.retina import LAYOUT
from podpath.evidence.layouts.table import NamedFile, find_bundles
from tests.evidence.layouts.placing import Told, told

PATHS = [
    ("proc-net/route", Told("cat /proc/net/route")),
    ("proc-sys-net/ipv4/conf/eth0/rp_filter", Told("cat /proc/sys/net/ipv4/conf/eth0/rp_filter")),
    ("proc-sys-net/ipv4/tcp_wmem", Told("", how=ReadAs.ASIDE)),
    ("tcpdump.log", Told("", how=ReadAs.LOG)),
    ("c.pcap", Told("", how=ReadAs.SNIFFED)),
]  # fmt: skip


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_what_files_hold(path: str, expected: Told | None) -> None:
    """A file's path says its command, its namespace and its host."""
    assert expected == told(LAYOUT, path)


def test_recognition() -> None:
    """The bundle is known by its files, wherever its root is, and its node by what it says."""
    files = [("ip-resources.txt", b"Summary:\n"), ("iptables-rules.txt", b"Summary:\n")]
    found = find_bundles([NamedFile(f"ticket/{name}", data) for name, data in files])
    assert [(LAYOUT, "ticket/", None)] == [
        (bundle.layout, bundle.root, bundle.host) for bundle in found
    ]


def test_what_is_no_such_bundle() -> None:
    """A single file of such a name is none."""
    assert () == find_bundles([NamedFile(name, b"1\n") for name in ("socket-stats.txt",)])
