"""Tests of `deploy/krew`: the manifest is one that krew takes, and what it names runs."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import click
import pytest
import yaml

import podpath
from podpath.version import __version__
from scripts.krew import BIN, COMPLETE, PYTHON, parse_archive, render_manifest, write_archive
from tests.folders import unpack_archive

HOMEPAGE, URI = "https://podpath.example", "https://downloads.example/podpath/"


@pytest.fixture(scope="module")
def lib(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a folder as pip's `--target` makes it: podpath, and what it imports to start."""
    folder = tmp_path_factory.mktemp("lib")
    for package in (
        Path(podpath.__file__).parent,
        Path(click.__file__).parent,
    ):
        for path in package.rglob("*.py"):
            target = folder / package.name / path.relative_to(package)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return folder


def test_the_manifest_is_as_krew_wants_it(lib: Path, tmp_path: Path) -> None:
    """Every field that krew's own validation asks for: names, a version with its v, https, sums."""
    archive = write_archive(lib, tmp_path)
    text = render_manifest([archive], URI, HOMEPAGE)
    manifest = yaml.safe_load(text)
    spec = manifest["spec"]

    assert manifest["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2"
    assert (manifest["kind"], manifest["metadata"]["name"]) == ("Plugin", "podpath")
    assert spec["version"] == f"v{__version__}"
    assert re.fullmatch(r"v\d+\.\d+\.\d+", spec["version"])
    assert spec["homepage"] == HOMEPAGE
    assert 0 < len(spec["shortDescription"]) <= 50
    assert PYTHON in spec["caveats"]
    (platform,) = spec["platforms"]
    assert platform["uri"].startswith(URI)
    assert platform["sha256"] == hashlib.sha256(archive.path.read_bytes()).hexdigest()
    labels = platform["selector"]["matchLabels"]
    assert labels["os"] in {"linux", "darwin", "windows"}
    assert labels["arch"] in {"amd64", "arm64"}
    with tarfile.open(archive.path) as packed:
        names = packed.getnames()
        assert platform["bin"] in names
        assert packed.getmember(platform["bin"]).mode & 0o111
    assert not any(name.startswith("/") or ".." in name for name in names)
    assert not re.search(r"\{\w+\}", text)


def test_what_krew_installs_runs_as_a_plugin(lib: Path, tmp_path: Path) -> None:
    """Unpacked and linked into PATH as krew does, kubectl finds it, and it knows its name."""
    archive = write_archive(lib, tmp_path)
    unpack_archive(archive.path, tmp_path / "store")
    (tmp_path / "bin").mkdir()
    for name in (BIN, COMPLETE):
        (tmp_path / "bin" / name).symlink_to(tmp_path / "store" / name)
    interpreter = tmp_path / "bin" / f"python{PYTHON}"
    interpreter.symlink_to(getattr(sys, "_base_executable", sys.executable))
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    kubectl = Path(sys.executable).parent / "kubectl"
    done, completed = (
        subprocess.run(
            (kubectl, *words),
            capture_output=True, text=True, check=False, env={"PATH": path, "HOME": str(tmp_path)},
        )
        for words in (
            ("podpath", "snapshot", "--no-such-option"),
            ("__complete", "podpath", "snap"),
        )
    )  # fmt: skip
    assert "snapshot" in completed.stdout, completed.stderr
    assert done.returncode == 2, done.stderr
    assert "kubectl podpath snapshot --help" in done.stderr


def test_other_machines_archives_are_named_by_their_names(tmp_path: Path) -> None:
    """System and processor are the ends of a name."""
    path = tmp_path / f"{BIN}_0.1.0_darwin_arm64.tar.gz"
    path.write_bytes(b"x")
    archive = parse_archive(str(path))
    assert (archive.os, archive.arch) == ("darwin", "arm64")
    assert archive.describe(URI)["uri"] == f"{URI}{path.name}"
