"""A folder of CNI configurations as it is, and the plugins' programs that are there.

Nothing is waited for: a symbolic link is read through but marked, a pipe is not opened, a file is
read no further than four times what containerd takes.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from podpath.cni.conf import EXTENSIONS, ConfFile
from podpath.cni.runtimes import SIZE_LIMIT

PROBE_SECONDS = 5.0
READ_LIMIT = 4 * SIZE_LIMIT


def read_folder(directory: Path) -> tuple[ConfFile, ...]:
    """Read a folder's files and those of its drop-in directories; `OSError` where it cannot be
    listed.
    """
    found: list[ConfFile] = []
    for path in sorted(directory.iterdir()):
        if path.is_dir():
            if path.suffix not in EXTENSIONS:
                found += _read_drop_ins(path)
            elif path.is_symlink():
                found.append(
                    ConfFile(
                        name=path.name,
                        content=None,
                        obstacle="it leads to a directory",
                        is_link=True,
                    )
                )
        else:
            found.append(read_file(path, path.name))
    return tuple(found)


def read_file(path: Path, name: str) -> ConfFile:
    """Read one file by the name that it has in its folder."""
    try:
        link = path.is_symlink()
        if not stat.S_ISREG(path.stat().st_mode):
            return ConfFile(
                name=name, content=None, obstacle="it is not a regular file", is_link=link
            )
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            return ConfFile(name=name, content=file.read(READ_LIMIT), is_link=link)
    except OSError as error:
        return ConfFile(
            name=name,
            content=None,
            obstacle=error.strerror or str(error),
            is_link=path.is_symlink(),
        )


def list_programs(directories: Iterable[Path]) -> dict[str, tuple[str, ...]]:
    """Return the programs in the plugins' directories, without asking them anything. An empty file
    is none, whatever its mode: the kernel cannot run it (ENOEXEC, fs/exec.c:search_binary_handler
    v6.12).
    """
    found: dict[str, tuple[str, ...]] = {}
    for directory in directories:
        try:
            entries = list(directory.iterdir())
        except OSError:
            continue
        for path in entries:
            if _is_program(path):
                found[path.name] = ()
    return found


def _is_program(path: Path) -> bool:
    try:
        there = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(there.st_mode) and there.st_size > 0 and os.access(path, os.X_OK)


def probe_programs(directories: Sequence[Path], kinds: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Ask plugins for the versions that they support, as CRI-O does (CNI_COMMAND=VERSION); others
    are only listed.
    """
    programs = list_programs(directories)
    for kind in set(kinds) & programs.keys():
        path = next(directory / kind for directory in directories if (directory / kind).is_file())
        programs[kind] = _probe(path)
    return programs


def _probe(path: Path) -> tuple[str, ...]:
    try:
        done = subprocess.run(
            [str(path)],
            input='{"cniVersion": "1.0.0"}',
            capture_output=True,
            text=True,
            check=False,
            timeout=PROBE_SECONDS,
            env={"CNI_COMMAND": "VERSION", "PATH": os.defpath},
        )
        listed = json.loads(done.stdout).get("supportedVersions")
    except (OSError, subprocess.TimeoutExpired, ValueError, AttributeError):
        return ()
    if isinstance(listed, list):
        return tuple(entry for entry in listed if isinstance(entry, str))
    return ()


def _read_drop_ins(directory: Path) -> list[ConfFile]:
    try:
        return [
            read_file(path, f"{directory.name}/{path.name}")
            for path in sorted(directory.iterdir())
            if not path.is_dir()
        ]
    except OSError:
        return []
