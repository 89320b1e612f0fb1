"""Capture files by themselves: told from all else by their first bytes, and read in their order."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from podpath.collect.capture_files import are_captures, read_capture_files
from podpath.collect.captures import Kept
from podpath.net.errors import EvidenceError
from tests.capture import frames

SYN = frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write two captures, a packed one, and a text."""
    (tmp_path / "a.pcap").write_bytes(SYN)
    (tmp_path / "b.pcap").write_bytes(SYN)
    (tmp_path / "c.pcap.gz").write_bytes(gzip.compress(SYN))
    (tmp_path / "d.txt").write_text(
        "10:00:00.0 IP 10.0.0.1.1 > 10.0.0.2.80: Flags [S], seq 1, win 1, length 0\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("names", "alone"),
    [
        (("a.pcap",), True),
        (("b.pcap", "a.pcap"), True),
        (("a.pcap", "d.txt"), False),
        (("c.pcap.gz",), False),
        (("a.pcap", "none.pcap"), False),
        (("a.pcap", "."), False),
        (("a.pcap", "\0"), False),
    ],
)
def test_captures_are_told_by_their_first_bytes(
    folder: Path, names: tuple[str, ...], *, alone: bool
) -> None:
    """One thing among them that is no capture file, or none at all, and they are read like any
    evidence.
    """
    assert alone is are_captures([str(folder / name) for name in names])


def test_captures_are_read_in_their_order(folder: Path) -> None:
    """Each gives its source, and is handed on with all of its packets."""
    kept: list[Kept] = []
    names = [str(folder / name) for name in ("b.pcap", "a.pcap")]
    evidence = read_capture_files(names, kept.append)

    assert names == [source.name for source in evidence.sources] == [one.name for one in kept]
    assert [1, 1] == [len(one.capture.packets) for one in kept]


def test_capture_that_goes_away_is_named(folder: Path) -> None:
    """A file that is gone between two looks is an error with its name."""
    with pytest.raises(EvidenceError, match=r"gone\.pcap: no such file"):
        read_capture_files([str(folder / "gone.pcap")])
