"""Capture files by themselves, as people mostly give them to `podpath capture`: neither documents
nor archives are among them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from podpath.collect import captures
from podpath.collect.captures import Keep, forget
from podpath.collect.long_captures import Tell, tell_nobody
from podpath.evidence.gathered import Evidence, join
from podpath.net.errors import EvidenceError

_MAGIC_BYTES = 4


def are_captures(paths: Sequence[str]) -> bool:
    """Tell whether every path leads to a capture file that is not packed; of one that cannot be
    read others say why.
    """
    return all(_is_capture(path) for path in paths)


def _is_capture(path: str) -> bool:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - a NUL is a ValueError
            return False
        with Path(path).open("rb") as file:
            return captures.is_capture(file.read(_MAGIC_BYTES))
    except (OSError, ValueError):
        return False


def read_capture_files(
    paths: Sequence[str], keep: Keep = forget, tell: Tell = tell_nobody
) -> Evidence:
    """Read capture files in their order; `EvidenceError` names the first that cannot be read."""
    found = [
        _read_file(path, keep, _tell_part(tell, number, len(paths)))
        for number, path in enumerate(paths)
    ]
    return join(found)


def _tell_part(tell: Tell, number: int, count: int) -> Tell:
    """Tell the share of one file's work as that of all."""
    return lambda share: tell((number + share) / count)


def _read_file(path: str, keep: Keep, tell: Tell) -> Evidence:
    try:
        with Path(path).open("rb") as file:
            return captures.read_mapped(path, file, keep, tell)
    except OSError as error:
        raise EvidenceError(f"{path}: {str(error.strerror).lower()}") from error
