"""Members of an archive, read in memory."""

from __future__ import annotations

import gzip
import io
import tarfile

from podpath.collect.archives import is_archive, read_members
from podpath.collect.limits import Limits


def _tar(*members: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def test_plain_and_packed() -> None:
    """Both give the same members, with plain names."""
    data = _tar(("./a/x.txt", b"1"), ("y", b"2"))
    for content in (data, gzip.compress(data)):
        assert is_archive(content)
        members = list(read_members("b", io.BytesIO(content), len(content), Limits()))
        assert [("a/x.txt", b"1", ""), ("y", b"2", "")] == members


def test_a_member_that_is_too_large() -> None:
    """It is left out, and the others are read."""
    data = _tar(("big", bytes(5000)), ("small", b"1"))
    members = list(read_members("b", io.BytesIO(data), len(data), Limits(output_bytes=1000)))
    assert [(b"", True), (b"1", False)] == [(member.data, bool(member.refused)) for member in members]


def test_other_files() -> None:
    """Text is no archive."""
    assert not is_archive(b"*filter\n:FORWARD ACCEPT [0:0]\n")
