"""Members of a tar, packed or not, read in memory one after the other: nothing is unpacked to disk, no link is followed.

An archive that reaches out of itself (`../`, absolute names), or that unpacks to far more than it is, is refused as a whole:
nobody makes such a bundle by accident.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, cast

from podpath.collect.limits import Limits
from podpath.net.errors import EvidenceError, MissingExtra

GZIP, ZSTD, XZ, BZIP2, TAR = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh", b"ustar"
PACKED = (GZIP, ZSTD, XZ, BZIP2)
"""What packed data begins with."""
TAR_NAMES = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
_TAR_MAGIC_AT = 257
_MAGIC_BYTES = 6
_BLOCK = 1 << 16
_DICTIONARY = 256 << 20
"""Memory that unpacking xz may take: `xz -9` asks for 65 MB, a file may ask for 4 GB."""
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, OSError, ValueError)
"""What the readers of packed data raise where it is damaged or ends early."""


class Member(NamedTuple):
    """A file of an archive."""

    name: str
    data: bytes
    refused: str = ""
    """Why it was not read; empty where it was."""


def is_archive(head: bytes) -> bool:
    """Tell whether a file's first bytes are those of a packed or plain tar."""
    return head.startswith(PACKED) or head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == TAR


def read_members(name: str, file: BinaryIO, size: int, limits: Limits) -> Iterator[Member]:
    """Give the files of an archive, within the limits; `EvidenceError` where it is damaged or must not be read."""
    stream = _Bounded(name, _unpacked(name, file), size, limits)
    try:
        with tarfile.open(fileobj=cast("BinaryIO", stream), mode="r|") as archive:
            for count, info in enumerate(archive):
                if count >= limits.files:
                    raise EvidenceError(f"{name}: expected at most {limits.files} members, saw more")
                yield from _read_member(name, archive, info, limits)
    except (tarfile.TarError, *_DAMAGED) as error:
        raise EvidenceError(f"{name}: expected a whole tar archive, saw a damaged one: {error}") from error


def read_single(name: str, file: BinaryIO, size: int, limits: Limits) -> bytes:
    """Give the content of a single packed file (`ticket.md.gz`), or of a plain one that only looked like an archive."""
    blocks: list[bytes] = []
    wanted = limits.output_bytes
    for block in read_blocks(name, file, size, limits):
        blocks.append(block[:wanted])
        wanted -= len(blocks[-1])
        if not wanted:
            break
    return b"".join(blocks)


def read_blocks(name: str, file: BinaryIO, size: int, limits: Limits) -> Iterator[bytes]:
    """Give the content of a single packed file block by block, within the limits but for that of one output."""
    stream = _Bounded(name, _unpacked(name, file), size, limits)
    try:
        while block := stream.read(limits.output_bytes):
            yield block
    except _DAMAGED as error:
        raise EvidenceError(f"{name}: expected packed data, saw damaged data: {error}") from error


def unpack(name: str, data: bytes, limits: Limits) -> bytes:
    """Unpack a file that stands packed among others, as rotated logs do; what is damaged, or must not be read, stays as it is."""
    if not data.startswith(PACKED):
        return data
    try:
        return read_single(name, io.BytesIO(data), len(data), limits)
    except (EvidenceError, MissingExtra):
        return data


def _read_member(name: str, archive: tarfile.TarFile, info: tarfile.TarInfo, limits: Limits) -> Iterator[Member]:
    parts = info.name.split("/")
    if info.name.startswith(("/", "\\")) or ".." in parts or "\0" in info.name:
        raise EvidenceError(f"{name}: member {info.name!r} stands outside of the archive: it is refused as a whole")
    shown = "/".join(part for part in parts if part not in {"", "."})
    if info.isdir():
        return
    if not info.isreg():
        kind = "a link" if info.issym() or info.islnk() else "a device or pipe"
        yield Member(shown, b"", f"expected a file, saw {kind}: left out")
        return
    content = archive.extractfile(info)
    if info.size > limits.output_bytes or content is None:
        yield Member(shown, b"", f"expected at most {limits.output_bytes >> 20} MB, saw {info.size >> 20} MB: left out")
        return
    data = content.read(info.size)
    if len(data) < info.size:
        raise EvidenceError(f"{name}: expected {info.size} bytes of {info.name!r}, saw the archive end after {len(data)}")
    yield Member(shown, data)


class _Bounded(io.RawIOBase):
    """A stream that raises when more comes out of it than an honest archive of that size holds."""

    def __init__(self, name: str, inner: BinaryIO, size: int, limits: Limits) -> None:
        self._name, self._inner, self._size, self._limits = name, inner, max(size, 1), limits
        self._count = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        block = self._inner.read(min(size, 1 << 20) if size >= 0 else 1 << 20)
        self._count += len(block)
        if self._count > self._limits.total_bytes + (self._limits.total_bytes >> 3):
            raise EvidenceError(f"{self._name}: expected at most {self._limits.total_bytes >> 20} MB unpacked, saw more")
        if self._count > self._limits.ratio_from and self._count > self._limits.ratio * self._size:
            raise EvidenceError(
                f"{self._name}: unpacks to over {self._limits.ratio} times its size: no bundle does, it is refused"
            )
        return block


def _unpacked(name: str, file: BinaryIO) -> BinaryIO:
    head = file.read(_MAGIC_BYTES)
    file.seek(0)
    if head.startswith(GZIP):
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    if head.startswith(BZIP2):
        return cast("BinaryIO", bz2.BZ2File(file))
    if head.startswith(XZ):
        return cast("BinaryIO", _Xz(file))
    return _open_zstd(name, file) if head.startswith(ZSTD) else file


class _Xz(io.RawIOBase):
    """Unpacked xz, of one stream or several: `lzma.LZMAFile` knows no bound on the memory that a file may ask for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._stream = self._begin()

    @staticmethod
    def _begin() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_DICTIONARY)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        while True:
            packed = b""
            if self._stream.eof:
                packed = (self._stream.unused_data or self._file.read(_BLOCK)).lstrip(b"\0")  # padding between streams
                if not packed:
                    return b""
                self._stream = self._begin()
            elif self._stream.needs_input:
                packed = self._file.read(_BLOCK)
                if not packed:
                    raise EOFError("the data ends before its end is marked")
            found = self._stream.decompress(packed, size)
            if found:
                return found


def _open_zstd(name: str, file: BinaryIO) -> BinaryIO:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - new in 3.14
    else:
        try:
            from backports import zstd  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra(f"{name}: reading zstd needs one more package: pip install 'podpath[zstd]'") from error
    return cast("BinaryIO", zstd.ZstdFile(file))
