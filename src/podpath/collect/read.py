"""The input of a diagnosis: files, folders, archives and standard input to sources.

Nothing is written, nothing is followed out of a folder, and every limit that is hit is said.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from podpath.collect import archives, captures, packed_captures
from podpath.collect.limits import DEFAULT, MAX_SIZE, Limits
from podpath.collect.mapping import map_file
from podpath.collect.members import Member
from podpath.collect.printed import is_printed
from podpath.evidence.bundle import ReadPackets, assemble_bundle, is_bundle
from podpath.evidence.files import parse_file, split_lines
from podpath.evidence.foreign import BundleFile, NamedFile, find_bundles, is_single, read_bundled
from podpath.evidence.formats import LIKELY
from podpath.evidence.gathered import BundlePlace, Evidence, join, make_cut, make_gap
from podpath.evidence.recognition import recognise
from podpath.net.errors import EvidenceError, MissingExtra
from podpath.net.provenance import Cut, Gap, GapKind, Source

STDIN = "-"
_HEAD = 256 << 10
"""As much of a large file as decides what it is."""


def read_evidence(
    paths: Sequence[str],
    limits: Limits = DEFAULT,
    stdin: BinaryIO | None = None,
    keep: captures.Keep = captures.forget,
) -> Evidence:
    """Read all that is given, in that order; `EvidenceError` names the first that cannot be read at
    all.

    Captures whose packets are read are handed to `keep` as well, for whoever follows packets across
    them.
    """
    return join(_read_path(path, limits, stdin, keep) for path in paths)


def read_packed(name: str, data: bytes, keep: captures.Keep = captures.forget) -> Evidence:
    """Read an archive that is in memory, as if it were a file of that name."""
    return _read_archive(name, io.BytesIO(data), len(data), DEFAULT, keep)


def _read_path(path: str, limits: Limits, stdin: BinaryIO | None, keep: captures.Keep) -> Evidence:
    if path == STDIN:
        return _read_stream(stdin if stdin is not None else sys.stdin.buffer, limits, keep)
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a name with a NUL must end as a message too
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise EvidenceError(f"{path}: {str(reason).lower()}") from error
    if stat.S_ISDIR(mode):
        return _read_folder(Path(path), limits, keep)
    if not stat.S_ISREG(mode):
        raise EvidenceError(
            f"{path}: expected a file, a folder or an archive, saw a device or pipe; "
            "use - for standard input"
        )
    try:
        with Path(path).open("rb") as file:
            return _read_file(path, file, os.fstat(file.fileno()).st_size, limits, keep)
    except OSError as error:
        raise EvidenceError(f"{path}: {str(error.strerror).lower()}") from error


def _read_stream(stream: BinaryIO, limits: Limits, keep: captures.Keep) -> Evidence:
    data = stream.read(limits.output_bytes + 1)
    if not data.strip():
        raise EvidenceError(
            "standard input is empty: pipe the output of a command or a ticket into it"
        )
    if archives.is_archive(data[:512]) and len(data) <= limits.output_bytes:
        return _read_archive("stdin", io.BytesIO(data), len(data), limits, keep)
    return _parse_whole("stdin", data, limits, keep, whole=len(data) <= limits.output_bytes)


def _read_file(
    name: str, file: BinaryIO, size: int, limits: Limits, keep: captures.Keep
) -> Evidence:
    head = file.read(_HEAD)
    file.seek(0)
    if captures.is_capture(head):
        return captures.read_mapped(name, file, keep)
    if archives.is_archive(head):
        return _read_archive(name, file, size, limits, keep)
    long = _read_printed(name, head, lambda: map_file(file), limits, keep) if size > _HEAD else None
    if long is not None:
        return long
    file.seek(0)
    if not head.strip() and size <= _HEAD:
        raise EvidenceError(f"{name}: the file is empty")
    return _parse(name, file.read(_share(name, head, size, limits) + 1), size, limits, keep)


def _read_printed(
    name: str,
    head: bytes,
    load: Callable[[], bytes | memoryview],
    limits: Limits,
    keep: captures.Keep,
) -> Evidence | None:
    """Read a file that is one long output of tcpdump as packets; None for any other."""
    if not is_printed(head):
        return None
    data = load()
    if len(data) <= limits.printed_bytes:
        return captures.read_printed(name, data, keep)
    tail = max(limits.printed_bytes - _HEAD, 0)
    whole = bytes(data[tail : limits.printed_bytes]).rfind(b"\n") + 1
    found = captures.read_printed(name, data[: tail + whole], keep)
    cut = make_cut(Cut(name, tail + whole, len(data), MAX_SIZE))
    if found is None:
        return None
    return Evidence(found.sources, (*found.gaps, cut))


def _parse_whole(
    name: str, data: bytes, limits: Limits, keep: captures.Keep, *, whole: bool = True
) -> Evidence:
    """Parse a file's content that is in memory; unless it is `whole`, there is more of it than the
    limits let in.
    """
    if len(data) > _HEAD:
        long = _read_printed(name, data[:_HEAD], lambda: data, limits, keep)
    else:
        long = None
    if long is None:
        return _parse(name, data, len(data) if whole else None, limits, keep)
    if whole:
        return long
    return Evidence(long.sources, (*long.gaps, make_cut(Cut(name, len(data), None, MAX_SIZE))))


def _share(name: str, head: bytes, size: int, limits: Limits) -> int:
    """Say how much of a file is read: one that is one output may be long, a document or a log is
    cut.
    """
    if size <= limits.text_bytes or (size <= limits.output_bytes and is_single(head)):
        return size
    lines = split_lines(head.decode("utf-8", "replace"))
    found = recognise(Source(name=name, lines=tuple(lines[:-1] or lines)))
    one = (
        found is not None
        and found.name not in _CUT
        and found.recognise(Source(name=name, lines=tuple(lines[:-1] or lines))) >= LIKELY
    )
    return limits.output_bytes if one else limits.text_bytes


_CUT = frozenset({"component log"})
"""Formats of which a part is as good as the whole, and the whole may be endless."""


def _parse(
    name: str, data: bytes, size: int | None, limits: Limits, keep: captures.Keep
) -> Evidence:
    """Parse a file's content, of which only the beginning may be there: its `size` is another then,
    or not known.
    """
    if captures.is_capture(data):
        return captures.read_packets(name, data, keep=keep)
    single = _read_single(name, data) if size == len(data) else None
    if single is not None:
        return single
    gaps: tuple[Gap, ...] = ()
    allowed = _share(name, data[:_HEAD], len(data), limits)
    if len(data) > allowed or size != len(data):
        data = data[:allowed]
        data = data[: data.rfind(b"\n") + 1] or data
        gaps = (make_cut(Cut(name, len(data), size, MAX_SIZE)),)
    found = parse_file(name, data)
    return found._replace(gaps=(*found.gaps, *gaps))


def _read_archive(
    name: str, file: BinaryIO, size: int, limits: Limits, keep: captures.Keep
) -> Evidence:
    head = archives.read_single(name, file, size, replace(limits, output_bytes=512)).data
    file.seek(0)
    if captures.is_capture(head):
        return packed_captures.read_packed_capture(name, file, size, keep)
    if not archives.holds_members(head) and not name.endswith(archives.ARCHIVE_NAMES):
        single = archives.read_single(name, file, size, limits)
        return _parse_whole(name, single.data, limits, keep, whole=single.whole)
    members = list(archives.read_members(name, file, size, limits))
    refused = [_refuse(f"{name}/{member.name}", member) for member in members if member.refused]
    if not any(member.data for member in members):
        raise EvidenceError(f"{name}: the archive holds no files that can be read")
    found = _assemble(
        [
            _File(member.name, f"{name}/{member.name}", member.data)
            for member in members
            if not member.refused
        ],
        limits,
        keep,
    )
    return found._replace(gaps=(*refused, *found.gaps))


def _refuse(shown: str, member: Member) -> Gap:
    cut = None if member.cut is None else member.cut._replace(source=shown)
    return make_gap(
        shown, member.refused, kind=GapKind.ASIDE if member.is_link else GapKind.UNREAD
    )._replace(cut=cut)


class _File(NamedTuple):
    """A file of a folder or an archive."""

    name: str
    """Within it."""
    shown: str
    """As the user finds it."""
    data: bytes


def _assemble(files: list[_File], limits: Limits, keep: captures.Keep) -> Evidence:
    """Read files that came together, packed ones unpacked: as a bundle where they are laid out as
    one, else each by itself.
    """
    gaps: list[Gap] = []
    files = list(_unpack(files, limits, gaps))
    if is_bundle(file.name for file in files):
        found = assemble_bundle(files, _packets_reader(files, keep))
        return found._replace(gaps=(*gaps, *found.gaps))
    parts: list[Evidence] = []
    bundles = find_bundles([NamedFile(file.name, file.data) for file in files])
    for file in files:
        sniff = partial(_parse_whole, file.shown, file.data, limits, keep)
        try:
            parts.append(read_bundled(bundles, BundleFile(*file), sniff) or sniff())
        except (EvidenceError, MissingExtra) as error:
            gaps.append(make_gap(file.shown, str(error)))
    found = join(parts)
    return found._replace(gaps=(*gaps, *found.gaps))


def _read_single(name: str, data: bytes) -> Evidence | None:
    """Read a file that is a bundle of another tool all by itself; None for any other."""
    if not is_single(data):
        return None
    bundles = find_bundles([NamedFile(name, data)])
    return read_bundled(bundles, BundleFile(name, name, data), lambda: parse_file(name, data))


def _unpack(files: list[_File], limits: Limits, gaps: list[Gap]) -> Iterator[_File]:
    """Yield the files unpacked; one that is damaged is left out and said, and so is what a limit
    leaves of one.
    """
    total = 0
    for file in files:
        try:
            unpacked = archives.unpack(file.shown, file.data, limits)
        except (EvidenceError, MissingExtra) as error:
            gaps.append(make_gap(file.shown, str(error)))
            continue
        if not unpacked.whole:
            gaps.append(make_cut(Cut(file.shown, len(unpacked.data), None, MAX_SIZE)))
        if unpacked.data is file.data:
            plain = file
        else:
            plain = _File(file.name.rpartition(".")[0], file.shown, unpacked.data)
        nested = unpacked.whole and archives.holds_members(plain.data[:_HEAD])
        for each in _unpack_members(plain, limits, gaps) if nested else (plain,):
            total += len(each.data)
            if total > limits.total_bytes + (limits.total_bytes >> 3):
                raise EvidenceError(
                    f"{file.shown}: expected at most {limits.total_bytes >> 20} MB of files "
                    "unpacked, saw more"
                )
            yield each


def _unpack_members(file: _File, limits: Limits, gaps: list[Gap]) -> Iterator[_File]:
    """Yield the files of an archive that stands among others, as collectors nest them; what is
    packed in those stays so.
    """
    root = file.name.removesuffix(".tar")
    try:
        for member in archives.read_members(
            file.shown, io.BytesIO(file.data), len(file.data), limits
        ):
            shown = f"{file.shown}/{member.name}"
            if member.refused:
                gaps.append(_refuse(shown, member))
            else:
                yield _File(f"{root}/{member.name}", shown, member.data)
    except EvidenceError as error:
        gaps.append(make_gap(file.shown, str(error)))


def _packets_reader(files: list[_File], keep: captures.Keep) -> ReadPackets:
    """Make the reader of a bundle's captures, which knows the devices of each namespace by their
    indices.
    """
    listings = {name: data for name, _, data in files if name.endswith("/ip-link.json")}

    def read(shown: str, data: bytes, place: BundlePlace) -> Evidence:
        ending = f"netns/{place.netns or 'host'}/ip-link.json"
        listing = next(
            (listing for name, listing in listings.items() if name.endswith(ending)), b""
        )
        return captures.read_packets(shown, data, place, captures.device_names(listing), keep)

    return read


def _read_folder(folder: Path, limits: Limits, keep: captures.Keep) -> Evidence:
    files: list[_File] = []
    gaps: list[Gap] = []
    total = 0
    for path in _walk(folder):
        shown = str(path)
        data = _read_within(path, folder, limits, gaps)
        if data is None:
            continue
        total += len(data)
        if total > limits.total_bytes or len(files) >= limits.files:
            raise EvidenceError(
                f"{folder}: expected at most {limits.files} files and {limits.total_bytes >> 20} "
                "MB, saw more"
            )
        files.append(_File(path.relative_to(folder).as_posix(), shown, data))
    if not files:
        raise EvidenceError(f"{folder}: the folder holds no files that can be read")
    found = _assemble(files, limits, keep)
    return found._replace(gaps=(*gaps, *found.gaps))


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder in order, without those that are hidden; folders behind links are
    not entered.
    """
    for top, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(top) / name for name in sorted(names) if not name.startswith("."))


def _read_within(path: Path, folder: Path, limits: Limits, gaps: list[Gap]) -> bytes | None:
    """Read a file of a folder; None, and a gap, where it leads out of it, is no file, or may not be
    read.
    """
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            gaps.append(
                make_gap(
                    str(path), "expected a file, saw a link that leads out of the folder: left out"
                )
            )
            return None
        if not path.is_file():
            gaps.append(
                make_gap(
                    str(path), "expected a file, saw a device, a pipe or a dangling link: left out"
                )
            )
            return None
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(limits.output_bytes + 1)
    except (OSError, RuntimeError) as error:
        gaps.append(make_gap(str(path), f"could not be read: {error}"))
        return None
    if len(data) > limits.output_bytes:
        data = data[: limits.output_bytes]
        data = data[: data.rfind(b"\n") + 1] or data
        gaps.append(make_cut(Cut(str(path), len(data), size, MAX_SIZE)))
    return data
