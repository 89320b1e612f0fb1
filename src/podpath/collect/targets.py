"""Where a bundle is written: a new folder, or a new archive of the kind that its name says.

The target is looked at before the node is asked, which takes a while. An archive that could not be
written to its end is taken away again: half a bundle would look like a whole one.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, cast

from podpath.collect.unpacking import import_zstd
from podpath.net.errors import PodpathError

_FAST = 3
"""gzip's level where somebody waits: a third of the time of its best, for a tenth more."""
Files = Mapping[str, bytes]
"""A bundle's files, by their names in it."""


class TargetError(PodpathError):
    """A bundle cannot be written there. The message says why, and what can be done."""


def check_target(target: Path) -> None:
    """Refuse a target that exists, that cannot be written to, or whose name says a kind that
    bundles are not written in.
    """
    if target.exists() or target.is_symlink():
        raise TargetError(f"{target} exists already; name another file or remove it")
    other = next((ending for ending in OTHERS if target.name.endswith(ending)), None)
    if other is not None and _writer(target) is None:
        raise TargetError(
            f"{target}: expected a folder or a name with {', '.join(WRITERS)}, saw {other}"
        )
    above = next(folder for folder in target.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        reason = "is no folder" if not above.is_dir() else "may not be written to"
        raise TargetError(f"{target}: {above} {reason}")
    if _writer(target) is not None and above != target.absolute().parent:
        raise TargetError(f"{target}: no such folder: {target.parent}")
    if _writer(target) is _write_tar_zst:
        import_zstd(str(target))


def write_bundle(target: Path, files: Files) -> None:
    """Write a bundle's files; `TargetError` with the system's reason where that cannot be done."""
    write = _writer(target)
    try:
        if write is None:
            _write_folder(target, files)
            return
        with target.open("xb") as out:
            _write_whole(target, lambda: write(out, files))
    except OSError as error:
        raise TargetError(f"{target}: {(error.strerror or str(error)).lower()}") from error


def _writer(target: Path) -> Callable[[IO[bytes], Files], None] | None:
    return next((write for ending, write in WRITERS.items() if target.name.endswith(ending)), None)


def _write_whole(target: Path, write: Callable[[], None]) -> None:
    written = False
    try:
        write()
        written = True
    finally:
        if not written:
            target.unlink(missing_ok=True)


def _write_folder(target: Path, files: Files) -> None:
    for name, data in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _add_members(archive: tarfile.TarFile, files: Files) -> None:
    for name, data in files.items():
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))


def _write_tar(out: IO[bytes], files: Files) -> None:
    with tarfile.open(fileobj=out, mode="w") as archive:
        _add_members(archive, files)


def _write_tar_gz(out: IO[bytes], files: Files) -> None:
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=_FAST) as archive:
        _add_members(archive, files)


def write_packed(out: IO[bytes], files: Files) -> None:
    """Write a bundle as a .tar.gz to a stream that goes elsewhere: packed fast rather than
    small.
    """
    with (
        gzip.GzipFile(fileobj=out, mode="wb", compresslevel=_FAST, mtime=0) as packed,
        tarfile.open(fileobj=cast("IO[bytes]", packed), mode="w|") as archive,
    ):
        _add_members(archive, files)


def _write_tar_zst(out: IO[bytes], files: Files) -> None:
    zstd = import_zstd("a .tar.zst")
    with (
        zstd.ZstdFile(out, "w") as packed,
        tarfile.open(fileobj=cast("IO[bytes]", packed), mode="w|") as archive,
    ):
        _add_members(archive, files)


def _write_zip(out: IO[bytes], files: Files) -> None:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


WRITERS: Mapping[str, Callable[[IO[bytes], Files], None]] = {
    ".tar.gz": _write_tar_gz,
    ".tgz": _write_tar_gz,
    ".tar.zst": _write_tar_zst,
    ".tar": _write_tar,
    ".zip": _write_zip,
}
"""By the endings of names; any other name is a folder's."""
OTHERS = (
    ".7z", ".br", ".bz2", ".cab", ".gz", ".json", ".log", ".lz4", ".md", ".pcap", ".rar", ".tbz",
    ".tbz2", ".txt", ".txz", ".tzst", ".xz", ".yaml", ".zst",
)  # fmt: skip
"""Endings of files that are no bundles: who names one does not mean a folder."""
