"""Folders of tests that other users may enter."""

from __future__ import annotations

from pathlib import Path


def let_pass(folder: Path) -> None:
    """Let every user into a folder of pytest's, and through those above it that are root's
    alone.
    """
    for each in (folder, *folder.parents):
        if each.stat().st_mode & 0o005 != 0o005:
            each.chmod(0o755)
