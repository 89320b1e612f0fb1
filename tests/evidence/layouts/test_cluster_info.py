"""Files of `kubectl cluster-info dump`."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.cluster_info import LAYOUT
from podpath.evidence.layouts.layout import ReadAs
from podpath.evidence.layouts.table import NamedFile, find_bundles
from tests.evidence.layouts.placing import Told, told

PATHS = [
    ("shop/pods.json", Told("kubectl -n shop get pods -o json")),
    ("nodes.yaml", Told("kubectl get nodes -o yaml")),
    ("shop/web-0/logs.txt", Told("", how=ReadAs.LOG)),
    ("shop/deployments.json", Told("", how=ReadAs.ASIDE)),
]  # fmt: skip


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_what_files_hold(path: str, expected: Told | None) -> None:
    """A file's path says its command, its namespace and its host."""
    assert expected == told(LAYOUT, path)


def test_recognition() -> None:
    """The bundle is known by its files, wherever its root is, and its node by what it says."""
    files = [("nodes.json", b"{}"), ("kube-system/pods.json", b"{}")]
    found = find_bundles([NamedFile(f"ticket/{name}", data) for name, data in files])
    assert [(LAYOUT, "ticket/", None)] == [
        (bundle.layout, bundle.root, bundle.host) for bundle in found
    ]


def test_what_is_no_such_bundle() -> None:
    """A list of nodes beside another list is none."""
    assert () == find_bundles(
        [NamedFile(name, b"1\n") for name in ("nodes.json", "shop/pods.json")]
    )
