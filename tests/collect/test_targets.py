"""Where bundles are written."""

from __future__ import annotations

import errno
import io
import os
import tarfile
from pathlib import Path

import pytest

from podpath.collect import targets
from podpath.collect.read import read_evidence
from podpath.collect.targets import TargetError, check_target, write_bundle, write_packed
from podpath.net.errors import MissingExtra

FILES = {"netns/host/ip-route.txt": b"default via 10.0.0.1 dev eth0\n"}


@pytest.mark.parametrize(
    "name",
    ["node", "node.example.com", "node.tar", "node.tar.gz", "node.tgz", "node.zip", "node.tar.zst"],
)
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    """A bundle of every kind gives the evidence that went into it."""
    target = tmp_path / name
    try:
        check_target(target)
    except MissingExtra:
        pytest.skip("needs the package for zstd")
    write_bundle(target, FILES)
    found = read_evidence([str(target)])
    assert [("host", ("default via 10.0.0.1 dev eth0",))] == [
        (source.netns, source.lines) for source in found.sources
    ]


@pytest.mark.parametrize("name", ["a.tar.xz", "a.7z", "a.tar.bz2", "a.json", "a.gz"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    """Who names one does not want a folder of that name."""
    with pytest.raises(
        TargetError, match=rf"expected a folder or a name with .*, saw {name[name.rindex('.') :]}"
    ):
        check_target(tmp_path / name)


def test_places_that_take_no_bundle(tmp_path: Path) -> None:
    """One that is there already, and one below a file or a folder that is missing; a folder makes
    the folders above it.
    """
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    for name, why in (
        ("file", "exists"),
        ("dangling", "exists"),
        ("file/x", "no folder"),
        ("no/x.zip", "no such folder"),
    ):
        with pytest.raises(TargetError, match=why):
            check_target(tmp_path / name)
    check_target(tmp_path / "no" / "x")


@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz"])
def test_a_full_disk_leaves_no_half_bundle(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is the system's, and what was begun is taken away."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setitem(targets.WRITERS, name[1:], fail)
    with pytest.raises(TargetError, match="no space left on device"):
        write_bundle(tmp_path / name, FILES)
    assert [] == list(tmp_path.iterdir())


def test_a_stream_gets_what_a_file_would() -> None:
    """Packed to a stream that cannot seek, and the same twice."""
    files = {"bundle.json": b"{}", "netns/host/ip-link.json": b"[]" * 100}
    streams = [io.BytesIO(), io.BytesIO()]
    for out in streams:
        write_packed(out, files)
    assert streams[0].getvalue() == streams[1].getvalue()
    with tarfile.open(fileobj=io.BytesIO(streams[0].getvalue())) as archive:
        found = {each.name: each.size for each in archive}
    assert found == {name: len(data) for name, data in files.items()}
