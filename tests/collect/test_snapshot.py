"""A live node collected into a bundle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podpath.collect.namespaces import CollectedNamespace, FoundNamespaces
from podpath.collect.snapshot import collect_bundle, collect_files
from podpath.collect.targets import TargetError
from podpath.net.counted import Counted

HOME = CollectedNamespace(name="host", path="/proc/self/ns/net", role="host")


@pytest.mark.kernel("iptables-nft-save", "conntrack", "bridge")
def test_a_bundle_holds_every_file_and_its_manifest(tmp_path: Path) -> None:
    """Each namespace has its outputs, and the manifest names node, kernel and roles."""
    target = tmp_path / "bundle"
    missing = collect_bundle(target, (HOME,), now=12.5)
    manifest = json.loads((target / "bundle.json").read_text())
    assert manifest["time"] == 12.5
    assert manifest["netns"] == {"host": {"role": "host", "nsids": {}}}
    assert manifest["missing"] == list(missing)
    assert json.loads((target / "netns/host/ip-link.json").read_text())
    assert (target / "netns/host/iptables-save.txt").exists()


@pytest.mark.kernel("ip")
def test_an_existing_target_is_never_overwritten(tmp_path: Path) -> None:
    """A bundle is a new file or folder."""
    with pytest.raises(TargetError, match="exists already"):
        collect_bundle(tmp_path, (HOME,), now=0.0)


@pytest.mark.kernel("ip")
def test_a_namespace_that_goes_meanwhile_costs_its_own_files_only(tmp_path: Path) -> None:
    """Pods come and go: what is gone is told, and the rest is there."""
    gone = CollectedNamespace(name="gone", path=str(tmp_path / "none"))
    collected = collect_files((HOME, gone), now=0.0)
    assert [each for each in collected.missing if each.startswith("gone: ")] == [
        "gone: it was gone before it was read"
    ]
    assert list(json.loads(collected.files["bundle.json"])["netns"]) == ["host"]
    assert "netns/host/ip-link.json" in collected.files
    assert not [name for name in collected.files if name.startswith("netns/gone/")]


@pytest.mark.kernel("ip")
def test_what_was_left_out_is_said() -> None:
    """Namespaces that are not the node's are listed in the manifest, and in one sentence."""
    names = tuple(f"other-{number}" for number in range(10))
    found = FoundNamespaces(collected=(HOME,), left_out=names)
    collected = collect_files(found, now=0.0)
    assert json.loads(collected.files["bundle.json"])["left_out"] == list(names)
    assert "10 namespaces that no link leads to from this node: other-0, " in collected.missing[-1]
    assert "and 2 more" in collected.missing[-1]


@pytest.mark.kernel("ip")
def test_progress_grows() -> None:
    """It is a share, told as namespaces are done."""
    told: list[float] = []
    many = tuple(CollectedNamespace(name=f"n{place}", path=HOME.path) for place in range(6))
    collect_files((HOME, *many), now=0.0, progress=told.append)
    assert told == sorted(told)
    first = told[0]
    assert isinstance(first, Counted)
    assert (0, 7) == (first.done, first.total)
    assert first < told[-1] < 1.0
