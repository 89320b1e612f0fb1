"""Members of an archive, read in memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zlib
from collections.abc import Callable

import pytest

from podpath.collect.archives import Unpacked, is_archive, read_members, read_single, unpack
from podpath.collect.limits import MAX_SIZE, Limits
from podpath.collect.members import Member
from podpath.net.errors import EvidenceError
from podpath.net.provenance import Cut

PACKERS = pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
Pack = Callable[[bytes], bytes]


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
    for content in (data, gzip.compress(data), lzma.compress(data), bz2.compress(data)):
        assert is_archive(content)
        members = list(read_members("b", io.BytesIO(content), len(content), Limits()))
        assert [Member("a/x.txt", b"1"), Member("y", b"2")] == members


def test_a_member_that_is_too_large() -> None:
    """It is left out, and the others are read."""
    data = _tar(("big", bytes(5000)), ("small", b"1"))
    members = list(read_members("b", io.BytesIO(data), len(data), Limits(output_bytes=1000)))
    assert [(b"", Cut("big", 0, 5000, MAX_SIZE)), (b"1", None)] == [
        (member.data, member.cut) for member in members
    ]


def test_other_files() -> None:
    """Text is no archive."""
    assert not is_archive(b"*filter\n:FORWARD ACCEPT [0:0]\n")


@PACKERS
def test_packed_file_of_several_streams(pack: Pack) -> None:
    """Streams that were appended to each other are one file, as their own programs take them."""
    packed = pack(b"one\n" * 1000) + pack(b"two\n")

    assert (
        b"one\n" * 1000 + b"two\n"
        == read_single("log", io.BytesIO(packed), len(packed), Limits()).data
    )


@PACKERS
def test_damaged_data_is_an_error(pack: Pack) -> None:
    """Cut anywhere or with a wrong byte it is told as damaged, also among other files."""
    packed = pack(bytes(range(256)) * 40)
    broken = bytearray(packed)
    broken[len(packed) // 2] ^= 0xFF
    for data in (*(packed[:end] for end in range(8, len(packed), 97)), bytes(broken)):
        with pytest.raises(EvidenceError, match="saw damaged data"):
            read_single("log", io.BytesIO(data), len(data), Limits())
        if data.startswith(packed[:6]):
            with pytest.raises(EvidenceError, match="saw damaged data"):
                unpack("log", data, Limits())


@PACKERS
def test_what_unpacks_to_far_more_than_it_is_is_refused(pack: Pack) -> None:
    """A bomb is given up when it is known for one, and what it holds besides is never unpacked."""
    packed, limits = pack(bytes(1 << 24)), Limits(ratio_from=1 << 16)

    with pytest.raises(EvidenceError, match="200 times its size"):
        read_single("log", io.BytesIO(packed), len(packed), limits)
    with pytest.raises(EvidenceError, match="200 times its size"):
        unpack("log", packed, limits)
    cut = read_single("log", io.BytesIO(packed), len(packed), Limits(output_bytes=1000))
    assert Unpacked(bytes(1000), whole=False) == cut


def test_xz_that_asks_for_too_much_memory_is_refused() -> None:
    """A file of some bytes may ask for a dictionary of gigabytes: it gets none."""
    packed = bytearray(
        lzma.compress(b"x" * 1000, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}])
    )
    at = packed.index(bytes([lzma.FILTER_LZMA2, 1]), 12) + 2
    packed[at] = 38  # LZMA2's spelling of 2 GB
    end = 12 + (packed[12] + 1) * 4
    packed[end - 4 : end] = struct.pack("<I", zlib.crc32(packed[12 : end - 4]))

    with pytest.raises(EvidenceError, match="Memory usage limit"):
        read_single("log", io.BytesIO(bytes(packed)), len(packed), Limits())


def test_file_among_others_is_unpacked() -> None:
    """What is not packed stays as it is."""
    assert Unpacked(b"line\n") == unpack("log.1.xz", lzma.compress(b"line\n"), Limits())
    assert Unpacked(b"line\n") == unpack("log", b"line\n", Limits())


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress])
def test_a_damaged_tar_is_never_read_in_part(pack: Pack) -> None:
    """Wherever it is cut, it is refused; so it is where a byte of a header is flipped, which
    `tarfile` takes for the end.
    """
    plain = _tar(("a", b"1" * 600), ("b", b"2" * 600))
    plain = plain[: plain.index(b"2" * 600) + 1024 + 1024]
    packed = pack(plain)
    step = max(len(packed) // 40, 1)
    flipped = bytearray(plain)
    flipped[plain.index(b"b\0") + 2] ^= 0xFF
    for data in (
        *(packed[:end] for end in range(300, len(packed) - 1024, step)),
        pack(bytes(flipped)),
    ):
        with pytest.raises(EvidenceError, match="damaged"):
            list(read_members("x", io.BytesIO(data), len(data), Limits()))


@PACKERS
def test_the_checksum_counts(pack: Pack) -> None:
    """It stands behind the last byte of the tar, where nothing else looks."""
    packed = bytearray(pack(_tar(("a", b"1" * 600))))
    packed[-6] ^= 0xFF
    with pytest.raises(EvidenceError, match="damaged"):
        list(read_members("x", io.BytesIO(bytes(packed)), len(packed), Limits()))
