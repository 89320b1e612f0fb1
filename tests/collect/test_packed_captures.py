"""Packed captures: short ones and long ones give what the plain capture gives."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from podpath.collect import packed_captures
from podpath.collect.captures import Kept
from podpath.collect.read import read_evidence
from podpath.net.errors import EvidenceError
from tests.capture import frames

CAPTURE = frames.pcap(
    [
        frames.ethernet(0x0800, frames.ipv4(6, frames.tcp(ports=(port, 80))))
        for port in range(1, 4001)
    ]
)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("short", [1 << 20, 1000])
def test_packed_capture_gives_its_packets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: int, pack: Callable[[bytes], bytes]
) -> None:
    """In memory or in a file, of which nothing is left."""
    monkeypatch.setattr(packed_captures, "SHORT", short)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "eth0.pcap.packed"
    path.write_bytes(pack(CAPTURE))
    kept: list[Kept] = []
    read_evidence([str(path)], keep=kept.append)

    assert [4000] == [one.total for one in kept]
    assert [path] == list(tmp_path.iterdir())


def test_damaged_or_full_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that ends early is damaged, wherever it goes; where there is no room, the folder is
    named.
    """
    path = tmp_path / "eth0.pcap.gz"
    path.write_bytes(gzip.compress(CAPTURE)[:-100])
    with pytest.raises(EvidenceError, match="damaged data"):
        read_evidence([str(path)])
    path.write_bytes(gzip.compress(CAPTURE))
    monkeypatch.setattr(packed_captures, "SHORT", 1000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(EvidenceError, match="folder for temporary files"):
        read_evidence([str(path)])
