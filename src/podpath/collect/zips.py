"""Members of a zip, read in memory one after the other, each as far as its checksum says that it is
sound.

A zip says in its directory how large its members are, and may lie: what comes out is counted.
"""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from typing import BinaryIO

from podpath.collect.limits import Limits
from podpath.collect.members import Member, inner_name, leave_out_large
from podpath.collect.unpacking import DAMAGED, UnpackingBudget
from podpath.net.errors import EvidenceError

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
"""What a zip begins with: its first member, or its end where it has none."""
_ENCRYPTED = 1
"""The bit of a member's flags that says so."""
_BLOCK = 1 << 20


def read_members(name: str, file: BinaryIO, size: int, limits: Limits) -> Iterator[Member]:
    """Yield the files of a zip, within the limits; `EvidenceError` where it is damaged or must not
    be read.
    """
    budget = UnpackingBudget(name, size, limits)
    try:
        with zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
            if len(infos) > limits.files:
                raise EvidenceError(f"{name}: expected at most {limits.files} members, saw more")
            for info in infos:
                shown = inner_name(name, info.filename)
                if not info.is_dir():
                    yield _read_member(archive, info, shown, budget, limits)
    except (zipfile.BadZipFile, *DAMAGED) as error:
        raise EvidenceError(
            f"{name}: expected a whole zip archive, saw a damaged one: {error}"
        ) from error


def _read_member(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    shown: str,
    budget: UnpackingBudget,
    limits: Limits,
) -> Member:
    kind = info.external_attr >> 16
    if stat.S_IFMT(kind) not in {0, stat.S_IFREG}:
        return Member(shown, b"", "expected a file, saw a link, a device or a pipe: left out")
    if info.flag_bits & _ENCRYPTED:
        return Member(shown, b"", "expected a file, saw an encrypted one: left out")
    if info.file_size > limits.output_bytes:
        return leave_out_large(shown, info.file_size, limits)
    try:
        content = archive.open(info)
    except NotImplementedError as error:
        return Member(
            shown,
            b"",
            f"expected a file that zip or Python packed, saw another method: {error}: left out",
        )
    blocks: list[bytes] = []
    with content:
        while block := content.read(_BLOCK):
            budget.spend(len(block))
            blocks.append(block)
    return Member(shown, b"".join(blocks))
