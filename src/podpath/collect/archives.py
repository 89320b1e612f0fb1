"""Members of a tar or zip, packed or not, read in memory one after the other: nothing is unpacked
to disk, no link is followed.

An archive that reaches out of itself (`../`, absolute names), or that unpacks to far more than it
is, is refused as a whole: nobody makes such a bundle by accident. So is one that is damaged
anywhere, its checksums included: what a flipped byte or a broken copy left of it is not the
evidence that was collected.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, cast

from podpath.collect import zips
from podpath.collect.limits import Limits
from podpath.collect.members import Member, inner_name, leave_out_large
from podpath.collect.unpacking import DAMAGED, PACKED, Bounded, UnpackingBudget, open_unpacked
from podpath.net.errors import EvidenceError

TAR = b"ustar"
ARCHIVE_NAMES = (
    ".tar",
    ".tar.gz",
    ".tgz",
    ".tar.zst",
    ".tar.xz",
    ".txz",
    ".tar.bz2",
    ".tbz2",
    ".zip",
)
_TAR_MAGIC_AT = 257
_ZEROS = bytes(tarfile.BLOCKSIZE)


class Unpacked(NamedTuple):
    """The content of a packed file."""

    data: bytes
    whole: bool = True
    """False where a limit left the rest of it unread."""


def is_archive(head: bytes) -> bool:
    """Tell whether a file's first bytes are those of packed data, of a plain tar or of a zip."""
    return head.startswith(PACKED) or holds_members(head)


def holds_members(head: bytes) -> bool:
    """Tell whether a file's first bytes are those of a plain tar or of a zip."""
    return head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + len(TAR)] == TAR or head.startswith(zips.MAGIC)


def read_members(name: str, file: BinaryIO, size: int, limits: Limits) -> Iterator[Member]:
    """Yield the files of an archive, within the limits; `EvidenceError` where it is damaged or must
    not be read.
    """
    head = file.read(max(len(magic) for magic in zips.MAGIC))
    file.seek(0)
    if head.startswith(zips.MAGIC):
        return zips.read_members(name, file, size, limits)
    return _read_tar(name, file, size, limits)


def _read_tar(name: str, file: BinaryIO, size: int, limits: Limits) -> Iterator[Member]:
    stream = Bounded(open_unpacked(name, file), UnpackingBudget(name, size, limits))
    try:
        with tarfile.open(fileobj=cast("BinaryIO", stream), mode="r|", tarinfo=_Header) as archive:
            for count, info in enumerate(archive):
                if count >= limits.files:
                    raise EvidenceError(
                        f"{name}: expected at most {limits.files} members, saw more"
                    )
                yield from _read_member(name, archive, info, limits)
        while stream.read():
            """The checksum of what is packed stands behind its last byte."""
    except (tarfile.TarError, *DAMAGED) as error:
        raise EvidenceError(
            f"{name}: expected a whole tar archive, saw a damaged one: {error}"
        ) from error


class _Header(tarfile.TarInfo):
    """A member's header; `tarfile` takes a damaged one, or none, for the end of the archive, and
    says nothing.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        """Read a header; `tarfile.ReadError` where it is neither one nor the mark that ends an
        archive.
        """
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if buf == _ZEROS:
                raise
            why = "it ends without the mark of its end" if len(buf) < len(_ZEROS) else str(error)
            raise tarfile.ReadError(why) from error


def read_single(name: str, file: BinaryIO, size: int, limits: Limits) -> Unpacked:
    """Return the content of a single packed file (`ticket.md.gz`), or of a plain one that only
    looked like an archive.
    """
    blocks: list[bytes] = []
    wanted = limits.output_bytes
    for block in read_blocks(name, file, size, limits):
        if len(block) > wanted:
            blocks.append(block[:wanted])
            return Unpacked(b"".join(blocks), whole=False)
        blocks.append(block)
        wanted -= len(block)
    return Unpacked(b"".join(blocks))


def read_blocks(name: str, file: BinaryIO, size: int, limits: Limits) -> Iterator[bytes]:
    """Yield the content of a single packed file block by block, within the limits but for that of
    one output.
    """
    stream = Bounded(open_unpacked(name, file), UnpackingBudget(name, size, limits))
    try:
        while block := stream.read():
            yield block
    except DAMAGED as error:
        raise EvidenceError(f"{name}: expected packed data, saw damaged data: {error}") from error


def unpack(name: str, data: bytes, limits: Limits) -> Unpacked:
    """Unpack a file that stands packed among others, as rotated logs do; `EvidenceError` where it
    is damaged or too much.
    """
    if not data.startswith(PACKED):
        return Unpacked(data)
    return read_single(name, io.BytesIO(data), len(data), limits)


def _read_member(
    name: str, archive: tarfile.TarFile, info: tarfile.TarInfo, limits: Limits
) -> Iterator[Member]:
    shown = inner_name(name, info.name)
    if info.isdir():
        return
    if not info.isreg():
        kind = "a link" if info.issym() or info.islnk() else "a device or pipe"
        yield Member(shown, b"", f"expected a file, saw {kind}: left out", is_link=kind == "a link")
        return
    content = archive.extractfile(info)
    if info.size > limits.output_bytes or content is None:
        yield leave_out_large(shown, info.size, limits)
        return
    data = content.read(info.size)
    if len(data) < info.size:
        raise EvidenceError(
            f"{name}: expected {info.size} bytes of {info.name!r}, saw the archive end after "
            f"{len(data)}"
        )
    yield Member(shown, data)
