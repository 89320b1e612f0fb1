"""The cgroups that a cluster's pods live in, below one that is called after the cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

_MOUNT = Path("/sys/fs/cgroup")
_CPUSET = ("cpuset.cpus", "cpuset.mems")
"""What a cgroup of version 1 lacks at first and cannot take a process without (cpuset(7))."""


def make(path: str) -> None:
    """Make a cgroup in every hierarchy, with the folders above it."""
    for root in _list_hierarchies():
        above = root
        for part in PurePosixPath(path).parts:
            folder = above / part
            folder.mkdir(exist_ok=True)
            for name in _CPUSET:
                if (folder / name).exists() and not (folder / name).read_text().strip():
                    (folder / name).write_text((above / name).read_text(), encoding="ascii")
            above = folder


def remove(path: str) -> None:
    """Remove a cgroup with those below it: they are empty, their processes are gone."""
    for root in _list_hierarchies():
        for below, _, _ in os.walk(root / path, topdown=False):
            with suppress(FileNotFoundError):
                Path(below).rmdir()


def _list_hierarchies() -> Iterator[Path]:
    """Yield the top of each hierarchy: the only one of version 2, or all of version 1."""
    if (_MOUNT / "cgroup.procs").exists():
        yield _MOUNT
        return
    yield from (entry for entry in _MOUNT.iterdir() if (entry / "cgroup.procs").exists())
