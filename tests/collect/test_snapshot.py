"""A live node collected into a bundle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podpath.collect.snapshot import CollectError, Namespace, collect_bundle, find_namespaces


def test_processes_tell_which_namespaces_there_are() -> None:
    """The host's namespace comes first, under the name that bundles use."""
    first, *others = find_namespaces()
    assert (first.name, first.role) == ("host", "host")
    assert len({namespace.name for namespace in others}) == len(others)


def test_a_folder_without_processes_is_refused(tmp_path: Path) -> None:
    """Where /proc is not what it should be, the message says so."""
    with pytest.raises(CollectError, match="expected processes"):
        find_namespaces(tmp_path)


@pytest.mark.kernel("iptables-nft-save", "conntrack", "bridge")
def test_a_bundle_holds_every_file_and_its_manifest(tmp_path: Path) -> None:
    """Each namespace has its outputs, and the manifest names node, kernel and roles."""
    target = tmp_path / "bundle"
    missing = collect_bundle(target, (Namespace(name="host", path="/proc/self/ns/net", role="host"),), now=12.5)
    manifest = json.loads((target / "bundle.json").read_text())
    assert manifest["time"] == 12.5
    assert manifest["netns"] == {"host": {"role": "host"}}
    assert manifest["missing"] == list(missing)
    assert json.loads((target / "netns/host/ip-link.json").read_text())
    assert (target / "netns/host/iptables-save.txt").exists()


@pytest.mark.kernel("ip")
def test_an_existing_target_is_never_overwritten(tmp_path: Path) -> None:
    """A bundle is a new file or folder."""
    with pytest.raises(CollectError, match="exists already"):
        collect_bundle(tmp_path, (Namespace(name="host", path="/proc/self/ns/net"),), now=0.0)
