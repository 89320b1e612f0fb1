"""Which pod a process is of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podpath.collect.runtime_pods import find_pod

CONTAINERD = {
    "io.kubernetes.cri.sandbox-namespace": "shop",
    "io.kubernetes.cri.sandbox-name": "web-0",
}
CRIO = {"io.kubernetes.pod.namespace": "shop", "io.kubernetes.pod.name": "web-0"}


def make_process(proc: Path, process: int, parent: int, name: str = "sleep") -> Path:
    """Make a process as /proc shows it."""
    folder = proc / str(process)
    folder.mkdir()
    (folder / "stat").write_text(f"{process} ({name}) S {parent} 1 1", encoding="utf-8")
    (folder / "cmdline").write_bytes(f"{name}\0".encode())
    return folder


def write_bundle(folder: Path, notes: object) -> None:
    """Write a container's specification."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"annotations": notes}), encoding="utf-8")


def test_containerds_shim_lives_in_the_bundle(tmp_path: Path) -> None:
    """The pod's first process is its child, whatever that is called."""
    write_bundle(tmp_path / "bundle", CONTAINERD)
    shim = make_process(tmp_path, 20, 1, "containerd-shim")
    (shim / "cwd").symlink_to(tmp_path / "bundle")
    make_process(tmp_path, 30, 20, "a) S 99 (b")
    found = find_pod(30, tmp_path)
    assert found is not None
    assert (str(found), found.keeper) == ("shop/web-0", 20)


def test_conmon_is_told_its_bundle(tmp_path: Path) -> None:
    """A path as conmon sees it, which may be in a container itself."""
    write_bundle(tmp_path / "seen/run/bundle", CRIO)
    conmon = make_process(tmp_path, 20, 1, "conmon")
    (conmon / "cmdline").write_bytes(b"conmon\0-b\0/run/bundle\0-c\0x\0")
    (conmon / "root").symlink_to(tmp_path / "seen")
    make_process(tmp_path, 30, 20)
    assert str(find_pod(30, tmp_path)) == "shop/web-0"


@pytest.mark.parametrize(
    "notes",
    [
        None,
        [],
        {},
        {"io.kubernetes.cri.sandbox-name": "web-0"},
        {**CRIO, "io.kubernetes.pod.name": 3},
    ],
)
def test_a_container_that_is_no_pods_has_none(tmp_path: Path, notes: object) -> None:
    """Nor has one whose parents are gone, or whose specification is damaged."""
    write_bundle(tmp_path / "bundle", notes)
    shim = make_process(tmp_path, 20, 1)
    (shim / "cwd").symlink_to(tmp_path / "bundle")
    make_process(tmp_path, 30, 20)
    assert find_pod(30, tmp_path) is None
    (tmp_path / "bundle/config.json").write_text("{", encoding="utf-8")
    assert find_pod(30, tmp_path) is None
    make_process(tmp_path, 40, 99)
    assert find_pod(40, tmp_path) is None
