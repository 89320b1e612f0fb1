"""Tests of `protect.chain.entries`: whose entry is wanted, and for how long it is known."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from podpath_protect.apply import Applier
from podpath_protect.chain.editing import EditingError
from podpath_protect.chain.entries import WantedEntry
from podpath_protect.chain.folder import read_folder
from podpath_protect.chain.options import ChainOptions
from tests.protect.folders import BRIDGE, listed

KIND = "linkerd-cni"


def made(root: Path, *, entry: str = "", remember: bool = True) -> WantedEntry:
    """Make the memory of a node's plugin."""
    options = ChainOptions(
        type=KIND,
        entry=entry,
        conf_dir=str(root / "net.d"),
        remember=str(root / "entry.json") if remember else "",
    )
    return WantedEntry(options, Applier())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Provide a node's folders."""
    (tmp_path / "net.d").mkdir()
    return tmp_path


def chained(root: Path, file: str, age: int, **entry: object) -> None:
    """Let an installer chain an entry, so many seconds ago."""
    path = root / "net.d" / file
    path.write_text(listed(BRIDGE, {"type": KIND, **entry}))
    os.utime(path, (10_000 - age, 10_000 - age))


def test_the_newest_installers_entry_is_wanted(root: Path) -> None:
    """Of several files the one that was written last counts, by whatever name, as it is written,
    and before the configured one; it outlives the process.
    """
    chained(root, "10-old.conflist", 60, schema=1)
    chained(root, "20-new.conflist", 5, schema=2, name="x")
    wanted = made(root, entry=json.dumps({"type": KIND, "schema": 0}))
    assert {"type": KIND, "schema": 0} == wanted.wanted().conf

    wanted.learn(read_folder(root / "net.d"))

    assert {"type": KIND, "schema": 2, "name": "x"} == wanted.wanted().conf
    assert wanted.wanted() == made(root).wanted()
    assert 0o600 == (root / "entry.json").stat().st_mode & 0o777


def test_an_entry_that_libcni_refuses_is_not_learned(root: Path) -> None:
    """What would break the load is nobody's wish."""
    chained(root, "10-net.conflist", 5, capabilities=1)
    wanted = made(root)
    wanted.learn(read_folder(root / "net.d"))

    with pytest.raises(EditingError, match="as its installer chains it"):
        wanted.wanted()


@pytest.mark.parametrize(
    "held", ["", "{", '{"type": "other"}', '{"type": "linkerd-cni", "ipam": 1}']
)
def test_a_memory_that_is_none_is_not_believed(root: Path, held: str) -> None:
    """Half a file, another plugin's entry, one that does not load: as if there were none."""
    (root / "entry.json").write_text(held)

    with pytest.raises(EditingError):
        made(root).wanted()


def test_a_configured_file_is_read_anew(root: Path) -> None:
    """A file from the mesh's ConfigMap changes beneath us; one of another plugin is refused."""
    path = root / "given.json"
    path.write_text(json.dumps({"type": KIND, "schema": 1}))
    wanted = made(root, entry=str(path), remember=False)
    first = wanted.wanted().conf
    path.write_text(json.dumps({"type": KIND, "schema": 2}))

    assert (1, 2) == (first["schema"], wanted.wanted().conf["schema"])
    path.write_text(json.dumps({"type": "istio-cni"}))
    with pytest.raises(EditingError, match="saw one of istio-cni"):
        wanted.wanted()


def test_options_must_name_a_plugin() -> None:
    """Neither an entry nor a type is no wish at all."""
    with pytest.raises(ValueError, match="an entry, or a type"):
        ChainOptions()
