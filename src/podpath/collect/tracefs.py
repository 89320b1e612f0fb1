"""Where the trace events of the kernel are: a mount of tracefs, or one of our own that stands in no
tree (fsmount(2)), as a container and a node in namespaces have none. It is gone when its descriptor
is closed, so also when the process is killed.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import NamedTuple

from podpath.collect.namespaces import CollectError

MOUNTS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
_FSOPEN, _FSCONFIG, _FSMOUNT = 430, 431, 432
"""System calls since v5.2, of one number on every machine (scripts/syscall.tbl)."""
_CLOSE_ON_EXEC = 1
"""FSOPEN_CLOEXEC and FSMOUNT_CLOEXEC."""
_CREATE = 6
"""FSCONFIG_CMD_CREATE."""
_libc = ctypes.CDLL(None, use_errno=True)


class TraceFolder(NamedTuple):
    """The top of a tracefs."""

    path: Path
    descriptor: int | None
    """Of a mount of our own, which lasts as long as that is open; None for one that was there."""


def open_tracefs() -> TraceFolder:
    """Find tracefs, or mount it for this process alone; `CollectError` where neither is allowed."""
    for path in MOUNTS:
        if (path / "instances").is_dir():
            return TraceFolder(path, None)
    try:
        descriptor = _mount()
    except OSError as error:
        raise CollectError(
            f"expected tracefs, and may not mount it: {error.strerror}; mount -t "
            f"tracefs none {MOUNTS[0]}"
        ) from error
    return TraceFolder(Path(f"/proc/self/fd/{descriptor}"), descriptor)


def _mount() -> int:
    """Return the descriptor of a mount that no tree has."""
    kind = ctypes.create_string_buffer(b"tracefs")
    opened = _call(_FSOPEN, kind, _CLOSE_ON_EXEC)
    try:
        _call(_FSCONFIG, opened, _CREATE, None, None, 0)
        return _call(_FSMOUNT, opened, _CLOSE_ON_EXEC, 0)
    finally:
        os.close(opened)


def _call(number: int, *arguments: object) -> int:
    answer: int = _libc.syscall(number, *arguments)
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer
