"""Files of GKE nodes."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.gke import LAYOUT
from podpath.evidence.layouts.layout import ReadAs
from podpath.evidence.layouts.table import NamedFile, find_bundles
from tests.evidence.layouts.placing import Told, told

PATHS = [
    ("nodes/10.200.0.3/commands/sudo_ip_addr", Told("ip addr", None, "10.200.0.3")),
    ("nodes/n1/commands/iptables-save_--counters", Told("iptables-save -c", None, "n1")),
    ("nodes/n1/commands/ip_route_list_table_all", Told("ip route show table all", None, "n1")),
    ("gke-np-1/kubelet.log", Told("", None, "gke-np-1", ReadAs.LOG)),
    ("nodes/n1/commands/df_-h", Told("", None, None, ReadAs.ASIDE)),
]  # fmt: skip


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_what_files_hold(path: str, expected: Told | None) -> None:
    """A file's path says its command, its namespace and its host."""
    assert expected == told(LAYOUT, path)


def test_recognition() -> None:
    """The bundle is known by its files, wherever its root is, and its node by what it says."""
    files = [("gke-np-1/serial-1.log", b"boot\n"), ("gke-np-1/kubelet.log", b"I1122 kubelet\n")]
    found = find_bundles([NamedFile(f"ticket/{name}", data) for name, data in files])
    assert [(LAYOUT, "ticket/", None)] == [
        (bundle.layout, bundle.root, bundle.host) for bundle in found
    ]


def test_what_is_no_such_bundle() -> None:
    """Logs alone may be of anything."""
    assert () == find_bundles([NamedFile(name, b"1\n") for name in ("a/kubelet.log",)])
