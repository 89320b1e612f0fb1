"""Packed data as a stream of what it holds: gzip, bzip2, xz and zstd, each told from its first
bytes.

What is damaged raises one of `DAMAGED`, and what unpacks to far more than it is raises
`EvidenceError`. A checksum stands at the end of its data: who wants to know that all of it is sound
reads to the end.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from types import ModuleType
from typing import BinaryIO, cast

from podpath.collect.limits import MAX_SIZE, Limits
from podpath.net.errors import EvidenceError, MissingExtra

GZIP, ZSTD, XZ, BZIP2 = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh"
PACKED = (GZIP, ZSTD, XZ, BZIP2)
"""What packed data begins with."""
_MAGIC_BYTES = 6
_BLOCK = 1 << 16
_DICTIONARY = 256 << 20
"""Memory that unpacking xz may take: `xz -9` asks for 65 MB, a file may ask for 4 GB."""
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, OSError, ValueError)
"""What the readers of packed data raise where it is damaged or ends early."""


class UnpackingBudget:
    """What may still come out of an archive: more than an honest one of that size holds is
    refused.
    """

    def __init__(self, name: str, size: int, limits: Limits) -> None:
        """Take the archive's name and size."""
        self._name, self._size, self._limits = name, max(size, 1), limits
        self._count = 0

    def spend(self, count: int) -> None:
        """Count bytes that came out of it; `EvidenceError` once they are too many."""
        self._count += count
        if self._count > self._limits.total_bytes + (self._limits.total_bytes >> 3):
            most = f"{self._limits.total_bytes >> 20} MB"
            raise EvidenceError(
                f"{self._name}: expected at most {most} unpacked, saw more; {MAX_SIZE} lifts the "
                "limit"
            )
        if self._count > self._limits.ratio_from and self._count > self._limits.ratio * self._size:
            raise EvidenceError(
                f"{self._name}: unpacks to over {self._limits.ratio} times its size: no bundle "
                "does, it is refused"
            )


class Bounded(io.RawIOBase):
    """A stream that raises when more comes out of it than its budget allows."""

    def __init__(self, inner: BinaryIO, budget: UnpackingBudget) -> None:
        """Take the stream, and what may come out of it."""
        self._inner, self._budget = inner, budget

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Return at most a megabyte of what comes next; nothing at the end."""
        block = self._inner.read(min(size, 1 << 20) if size >= 0 else 1 << 20)
        self._budget.spend(len(block))
        return block


def open_unpacked(name: str, file: BinaryIO) -> BinaryIO:
    """Return the content of packed data as a stream; data that is not packed as it is."""
    head = file.read(_MAGIC_BYTES)
    file.seek(0)
    if head.startswith(GZIP):
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    if head.startswith(BZIP2):
        return cast("BinaryIO", bz2.BZ2File(file))
    if head.startswith(XZ):
        return cast("BinaryIO", _Xz(file))
    if head.startswith(ZSTD):
        return _open_zstd(name, file)
    return file


class _Xz(io.RawIOBase):
    """Unpacked xz, of one stream or several: `lzma.LZMAFile` knows no bound on the memory that a
    file may ask for.
    """

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
                packed = (self._stream.unused_data or self._file.read(_BLOCK)).lstrip(
                    b"\0"
                )  # padding between streams
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


def import_zstd(name: str) -> ModuleType:
    """Import the module that packs and unpacks zstd; `MissingExtra` says how to get it."""
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - new in 3.14
    else:
        try:
            from backports import zstd  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra(
                f"{name}: zstd needs one more package: pip install 'podpath[zstd]'"
            ) from error
    module: ModuleType = zstd
    return module


def _open_zstd(name: str, file: BinaryIO) -> BinaryIO:
    zstd = import_zstd(name)
    return cast("BinaryIO", _Zstd(zstd.ZstdFile(file), zstd.ZstdError))


class _Zstd(io.RawIOBase):
    """Unpacked zstd, whose own error is of no class that the others know."""

    def __init__(self, inner: BinaryIO, damaged: type[Exception]) -> None:
        self._inner, self._damaged = inner, damaged

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        try:
            return self._inner.read(size)
        except self._damaged as error:
            raise OSError(str(error)) from error
