"""Folders of tests: unpacked into, and entered by other users."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack_archive(archive: Path, folder: Path) -> None:
    """Unpack a tar archive as `filter="data"` does, where Python has it: Debian 12's has not."""
    with tarfile.open(archive) as files:
        files.extraction_filter = getattr(tarfile, "data_filter", None)
        files.extractall(folder)  # noqa: S202  # it is our own


def let_pass(folder: Path) -> None:
    """Let every user into a folder of pytest's, and through those above it that are root's
    alone.
    """
    for each in (folder, *folder.parents):
        if each.stat().st_mode & 0o005 != 0o005:
            each.chmod(0o755)
