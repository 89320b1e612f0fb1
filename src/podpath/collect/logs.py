"""Logs to sources: files, folders such as /var/log, archives and standard input, whole and
unjudged.

Logs may be far larger than any other evidence, and a folder of them holds much that is not a log:
what cannot be read as text is reported in a gap, and reading goes on.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from podpath.collect import archives, captures
from podpath.collect.limits import Limits
from podpath.collect.members import Member
from podpath.evidence.bundle import MANIFEST
from podpath.evidence.bundle_manifest import load_manifest, parse_time
from podpath.evidence.files import decode_text, split_lines
from podpath.evidence.gathered import Evidence, make_gap
from podpath.net.errors import EvidenceError, MissingExtra
from podpath.net.provenance import Gap, Source

STDIN = "-"
LIMITS = Limits(output_bytes=256 << 20, text_bytes=256 << 20, total_bytes=1 << 30)
"""Of logs: a day of a busy node is some hundred megabytes; of a longer log the end is read."""
_BLOCK = 1 << 20


def read_texts(
    paths: Sequence[str], limits: Limits = LIMITS, stdin: BinaryIO | None = None
) -> Evidence:
    """Read every text that is given, each as one source; `EvidenceError` names the first path that
    cannot be read at all.
    """
    sources: list[Source] = []
    gaps: list[Gap] = []
    for path in paths:
        found = _read_path(path, limits, stdin)
        if not found.sources and len(found.gaps) == 1 and not Path(path).is_dir():
            raise EvidenceError(found.gaps[0].why)
        sources += found.sources
        gaps += found.gaps
    return Evidence(tuple(sources), tuple(gaps))


def _read_path(path: str, limits: Limits, stdin: BinaryIO | None) -> Evidence:
    if path == STDIN:
        stream = stdin if stdin is not None else sys.stdin.buffer
        return _gather([("stdin", stream.read(limits.output_bytes))], None)
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a name with a NUL must end as a message too
        if stat.S_ISDIR(mode):
            return _gather(list(_folder(Path(path), limits)), _manifest_time(Path(path)))
        if not stat.S_ISREG(mode):
            raise EvidenceError(
                f"{path}: expected a file, a folder or an archive, saw a device or pipe; "
                "use - for standard input"
            )
        with Path(path).open("rb") as file:
            return _read_file(path, file, os.fstat(file.fileno()).st_size, limits)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise EvidenceError(f"{path}: {str(reason).lower()}") from error


def _read_file(name: str, file: BinaryIO, size: int, limits: Limits) -> Evidence:
    head = file.read(512)
    file.seek(0)
    if not archives.is_archive(head):
        if size > limits.output_bytes:
            return _read_end(name, file, size, limits)
        return _gather([(name, file.read(size))], None)
    packed = archives.read_single(name, file, size, replace(limits, output_bytes=512)).data
    file.seek(0)
    if not archives.holds_members(packed) and not name.endswith(archives.ARCHIVE_NAMES):
        return _gather([(name, archives.read_single(name, file, size, limits).data)], None)
    members = [
        member for member in archives.read_members(name, file, size, limits) if not member.refused
    ]
    manifest = next(
        (member.data for member in members if member.name.rpartition("/")[2] == MANIFEST), b""
    )
    return _gather(
        list(_unpacked_members(name, members, limits)),
        parse_time(load_manifest(manifest).get("time")),
    )


def _unpacked_members(
    name: str, members: Sequence[Member], limits: Limits
) -> Iterator[tuple[str, bytes]]:
    """Yield the members of an archive, rotated logs among them unpacked."""
    total = 0
    for member in members:
        data = _unpack(member.name, member.data, limits)
        total += len(data)
        if total > limits.total_bytes:
            raise EvidenceError(
                f"{name}: expected at most {limits.total_bytes >> 20} MB unpacked, saw more"
            )
        yield f"{name}/{member.name}", data


def _unpack(name: str, data: bytes, limits: Limits) -> bytes:
    """Unpack a rotated log; what is damaged, or must not be read, stays packed and becomes a
    gap.
    """
    try:
        return archives.unpack(name, data, limits).data
    except (EvidenceError, MissingExtra):
        return data


def _read_end(name: str, file: BinaryIO, size: int, limits: Limits) -> Evidence:
    """Read the last lines of a log that is too long; their numbers stay those of the file."""
    skipped, left = 0, size - limits.output_bytes
    while left:
        block = file.read(min(left, _BLOCK))
        if not block:
            break
        skipped += block.count(b"\n")
        left -= len(block)
    found = _gather([(name, file.read(limits.output_bytes).partition(b"\n")[2])], None)
    sources = tuple(replace(source, first_line=skipped + 2) for source in found.sources)
    gap = make_gap(
        name,
        f"only the last {limits.output_bytes / _BLOCK:.0f} MB of {size / _BLOCK:.0f} MB are read",
    )
    return Evidence(sources, (*found.gaps, gap))


def _folder(folder: Path, limits: Limits) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder in order; links, what is hidden and what may not be read are left
    out.
    """
    total = 0
    for top, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(top) / name
            if name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            try:
                with path.open("rb") as file:
                    data = _unpack(str(path), file.read(limits.output_bytes), limits)
            except OSError:
                continue
            total += len(data)
            if total > limits.total_bytes:
                raise EvidenceError(
                    f"{folder}: expected at most {limits.total_bytes >> 20} MB of logs, saw more; "
                    "name those in question"
                )
            yield str(path), data


def _manifest_time(folder: Path) -> float | None:
    path = folder / MANIFEST
    if path.is_file():
        return parse_time(load_manifest(path.read_bytes()).get("time"))
    return None


def _gather(files: Sequence[tuple[str, bytes]], taken_at: float | None) -> Evidence:
    """Make a source of each text; captures are no logs, and anything else that is no text is a
    gap.
    """
    sources: list[Source] = []
    gaps: list[Gap] = []
    for name, data in files:
        if captures.is_capture(data[:64]):
            continue
        data, zeros = _strip_zeros(data)  # noqa: PLW2901 - the same file, without what a crash left in it
        if zeros:
            gaps.append(
                make_gap(
                    name,
                    (
                        f"{zeros} zero bytes are left out: a crash leaves such in the file that "
                        "was written"
                    ),
                )
            )
        try:
            text, unread = decode_text(name, data)
        except EvidenceError as error:
            gaps.append(make_gap(name, str(error)))
            continue
        gaps += unread
        if text.strip():
            sources.append(Source(name=name, lines=tuple(split_lines(text)), taken_at=taken_at))
    return Evidence(tuple(sources), tuple(gaps))


def _strip_zeros(data: bytes) -> tuple[bytes, int]:
    """Take out the zeros that a crash leaves in a log; what is UTF-16, or hardly text, is left as
    it is.
    """
    zeros = data.count(0)
    if not zeros or zeros > len(data) // 4 or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data, 0
    return data.replace(b"\0", b""), zeros
