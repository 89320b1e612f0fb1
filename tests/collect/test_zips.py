"""Members of a zip, read in memory."""

from __future__ import annotations

import io
import stat
import struct
import zipfile

import pytest

from podpath.collect.limits import MAX_SIZE, Limits
from podpath.collect.members import Member
from podpath.collect.zips import read_members
from podpath.net.errors import EvidenceError
from podpath.net.provenance import Cut


def _zip(
    *members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data, method)
    return out.getvalue()


def _read(data: bytes, limits: Limits | None = None) -> list[Member]:
    return list(read_members("b.zip", io.BytesIO(data), len(data), limits or Limits()))


def test_members() -> None:
    """Files come with plain names; folders are none."""
    data = _zip(("a/", b""), ("./a/x.txt", b"1"), ("y", b"2" * 5000))
    assert [Member("a/x.txt", b"1"), Member("y", b"2" * 5000)] == _read(data)


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x"])
def test_a_zip_that_climbs_out(name: str) -> None:
    """It is refused as a whole."""
    with pytest.raises(EvidenceError, match="stands outside"):
        _read(_zip(("ok", b"1"), (name, b"1")))


def test_links_encrypted_members_and_unknown_methods() -> None:
    """They are left out, and that is said."""
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    data = bytearray(
        _zip(
            (link, b"/etc/passwd"),
            ("locked", b"1"),
            ("odd", b"1"),
            ("ok", b"1"),
            method=zipfile.ZIP_STORED,
        )
    )
    at = [place for place in range(len(data)) if data[place : place + 4] == b"PK\x01\x02"]
    struct.pack_into("<H", data, at[1] + 8, 1)
    struct.pack_into("<H", data, at[2] + 10, 97)
    kinds = [
        member.refused.partition(", saw ")[2].partition(":")[0] for member in _read(bytes(data))
    ]
    assert ["a link, a device or a pipe", "an encrypted one", "another method", ""] == kinds


def test_a_large_member_and_bombs() -> None:
    """One that is too large is left out as cut; one that unpacks to far more than it is, or than it
    says, is refused.
    """
    limits = Limits(output_bytes=1000, total_bytes=1 << 30)
    assert Cut("big", 0, 5000, MAX_SIZE) == _read(_zip(("big", bytes(5000))), limits)[0].cut
    with pytest.raises(EvidenceError, match="200 times"):
        _read(_zip(("bomb", bytes(8 << 20)), ("more", bytes(16 << 20))), Limits(ratio_from=1 << 20))
    with pytest.raises(EvidenceError, match="at most 5 members"):
        _read(_zip(*((str(number), b"1") for number in range(6))), Limits(files=5))
    lying = bytearray(_zip(("x", bytes(100_000))))
    struct.pack_into("<L", lying, lying.index(b"PK\x01\x02") + 24, 50)
    with pytest.raises(EvidenceError, match="damaged"):
        _read(bytes(lying))


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_damaged_zip_is_never_read_in_part(method: int) -> None:
    """Wherever a byte of a member is flipped, and wherever it is cut, it is an error."""
    content = bytes(range(256)) * 8
    data = _zip(("x", content), ("y", content), method=method)
    for end in range(30, len(data) - 1, max(len(data) // 30, 1)):
        with pytest.raises(EvidenceError, match="damaged"):
            _read(data[:end])
    body = data.index(b"PK\x01\x02") // 4
    for place in range(body, body + 40, 7):
        flipped = bytearray(data)
        flipped[place] ^= 0xFF
        with pytest.raises(EvidenceError, match="damaged"):
            _read(bytes(flipped))
