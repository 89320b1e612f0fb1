"""A live node collected into a bundle."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.collect.snapshot import (
    CollectedNamespace,
    CollectError,
    collect_bundle,
    collect_files,
    find_namespaces,
    put_in_lines,
)
from podpath.collect.targets import TargetError


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
    missing = collect_bundle(
        target, (CollectedNamespace(name="host", path="/proc/self/ns/net", role="host"),), now=12.5
    )
    manifest = json.loads((target / "bundle.json").read_text())
    assert manifest["time"] == 12.5
    assert manifest["netns"] == {"host": {"role": "host"}}
    assert manifest["missing"] == list(missing)
    assert json.loads((target / "netns/host/ip-link.json").read_text())
    assert (target / "netns/host/iptables-save.txt").exists()


@pytest.mark.kernel("ip")
def test_an_existing_target_is_never_overwritten(tmp_path: Path) -> None:
    """A bundle is a new file or folder."""
    with pytest.raises(TargetError, match="exists already"):
        collect_bundle(
            tmp_path, (CollectedNamespace(name="host", path="/proc/self/ns/net"),), now=0.0
        )


@pytest.mark.kernel("ip")
def test_a_namespace_that_goes_meanwhile_costs_its_own_files_only(tmp_path: Path) -> None:
    """Pods come and go: what is gone is told, and the rest is there."""
    gone = CollectedNamespace(name="gone", path=str(tmp_path / "none"))
    collected = collect_files(
        (CollectedNamespace(name="host", path="/proc/self/ns/net", role="host"), gone), now=0.0
    )
    assert any(sentence.startswith("gone: ") for sentence in collected.missing)
    assert "netns/host/ip-link.json" in collected.files
    assert not [name for name in collected.files if name.startswith("netns/gone/")]


@pytest.mark.kernel("ip")
def test_a_named_namespace_without_processes_is_found(tmp_path: Path) -> None:
    """CNI plugins keep them so; what is no namespace under /run/netns is left out."""
    name = f"pls-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        assert CollectedNamespace(name=name, path=f"/run/netns/{name}") in find_namespaces()
        (tmp_path / "file").touch()
        assert find_namespaces(named=tmp_path)[0].name == "host"
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


@given(
    st.lists(
        st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=6), min_size=1),
        min_size=1,
        max_size=6,
    )
)
def test_a_listing_stands_one_object_to_a_line(objects: list[dict[str, object]]) -> None:
    """It stays the same listing, of which each line between the brackets is one object."""
    for whole in (
        json.dumps(objects),
        json.dumps({"nftables": objects}),
        json.dumps(objects, indent=1),
    ):
        lines = put_in_lines(whole.encode())
        assert json.loads(lines) == json.loads(whole)
        assert len(objects) + 2 == len(lines.splitlines())


@pytest.mark.parametrize(
    "text", ["", "[]", '{"kernel": {"a": 1}}', '[{"a": 1}, {"b', '[{"a": 1}, 3]', "no JSON"]
)
def test_what_is_no_listing_stays_as_it_is(text: str) -> None:
    """Nothing is lost of what a program printed otherwise than expected."""
    assert text.encode() == put_in_lines(text.encode())
