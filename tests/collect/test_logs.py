"""Logs read from files, folders and archives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from pathlib import Path

import pytest

from podpath.collect.limits import Limits
from podpath.collect.logs import read_texts
from podpath.net.errors import EvidenceError
from tests.timeline.samples import CLIENT, MESSAGES


def test_a_folder_of_logs(tmp_path: Path) -> None:
    """Every text of a folder is read, rotated ones unpacked; what is hidden, a link or binary is
    not, and the last is told.
    """
    (tmp_path / "apt").mkdir()
    (tmp_path / "messages").write_text(MESSAGES, encoding="utf-8")
    for name, pack in (
        ("messages-20250301.gz", gzip.compress), ("messages-20250302.xz", lzma.compress),
        ("messages-20250303.bz2", bz2.compress),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(pack(CLIENT.encode()))
    (tmp_path / "wtmp").write_bytes(b"\x00\x01\x02" * 100)
    (tmp_path / ".hidden").write_text(MESSAGES, encoding="utf-8")
    (tmp_path / "link").symlink_to("/etc/hostname")
    (tmp_path / "empty").touch()
    found = read_texts([str(tmp_path)])

    packed = ["messages-20250301.gz", "messages-20250302.xz", "messages-20250303.bz2"]
    assert ["messages", *packed] == [Path(one.name).name for one in found.sources]
    assert ["wtmp"] == [Path(gap.span.source.name).name for gap in found.gaps]
    assert all(CLIENT.splitlines() == list(source.lines) for source in found.sources[1:])


def test_an_archive_of_logs(tmp_path: Path) -> None:
    """Members of a bundle are texts, taken when its manifest says."""
    path = tmp_path / "node.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        packed = lzma.compress(CLIENT.encode())
        manifest = b'{"time": 1741749239}'
        for name, data in (
            ("logs/messages", MESSAGES.encode()),
            ("logs/messages.1.xz", packed),
            ("bundle.json", manifest),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    found = read_texts([str(path)])

    assert ("logs/messages", 1741749239.0) == (
        found.sources[0].name.removeprefix(f"{path}/"),
        found.sources[0].taken_at,
    )
    assert CLIENT.splitlines() == list(found.sources[1].lines)
    with pytest.raises(EvidenceError, match="MB unpacked, saw more"):
        read_texts([str(path)], Limits(total_bytes=len(MESSAGES)))


def test_a_packed_log_and_standard_input(tmp_path: Path) -> None:
    """A log that is packed by itself is unpacked; `-` is standard input."""
    path = tmp_path / "app.log.gz"
    path.write_bytes(gzip.compress(CLIENT.encode()))
    found = read_texts([str(path), "-"], stdin=io.BytesIO(MESSAGES.encode()))

    assert [str(path), "stdin"] == [one.name for one in found.sources]


def test_a_wrong_encoding_is_a_gap(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are read as Latin-1, and that is said; UTF-16 with its mark is
    read.
    """
    latin, wide = tmp_path / "latin.log", tmp_path / "wide.log"
    latin.write_bytes("Mar 12 03:13:20 kn-04 caf\xe9: gr\xfc\xdf\n".encode("latin-1") * 20)
    wide.write_bytes(b"\xff\xfe" + MESSAGES.encode("utf-16-le"))
    found = read_texts([str(latin), str(wide)])

    assert (1, MESSAGES.splitlines()) == (len(found.gaps), list(found.sources[1].lines))
    assert "caf\xe9: gr\xfc\xdf" in found.sources[0].lines[0]


@pytest.mark.parametrize("name", ["nowhere", "bad\0name", "binary"])
def test_what_cannot_be_read_is_told(tmp_path: Path, name: str) -> None:
    """A path that is not there, is no name, or holds no text, is an error that names it."""
    (tmp_path / "binary").write_bytes(b"\x00\x01\x02" * 100)
    with pytest.raises(EvidenceError, match=name.partition("\0")[0]):
        read_texts([str(tmp_path / name)])


def test_a_device_is_refused() -> None:
    """A device may be endless."""
    with pytest.raises(EvidenceError, match="device or pipe"):
        read_texts(["/dev/zero"])


def test_zeros_of_a_crash_are_left_out(tmp_path: Path) -> None:
    """A log that was written when the machine crashed has zeros in it: the rest is read, and they
    are said.
    """
    path = tmp_path / "messages"
    path.write_bytes(MESSAGES.encode() + b"\0" * 100 + MESSAGES.encode())
    found = read_texts([str(path)])

    assert MESSAGES.splitlines() * 2 == list(found.sources[0].lines)
    assert "100 zero bytes" in found.gaps[0].why


def test_of_a_long_log_the_end_is_read(tmp_path: Path) -> None:
    """A log past the limit gives its last lines, with the numbers that they have in the file, and
    says so.
    """
    path = tmp_path / "messages"
    path.write_text(
        "".join(f"Mar 12 03:13:20 kn-04 a: line {number:04d}\n" for number in range(1, 1001)),
        encoding="utf-8",
    )
    found = read_texts([str(path)], Limits(output_bytes=4000))
    source = found.sources[0]

    assert source.lines[0].endswith(f"line {source.first_line:04d}")
    assert source.lines[-1].endswith("line 1000")
    assert "only the last" in found.gaps[-1].why


def test_a_folder_with_too_much_is_refused(tmp_path: Path) -> None:
    """A folder that holds more than can be read names what to do."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("x\n" * 1000, encoding="utf-8")
    with pytest.raises(EvidenceError, match="name those in question"):
        read_texts([str(tmp_path)], Limits(output_bytes=5000, total_bytes=3000))
