"""Who writes into a folder: the process that fanotify names, or those who watch it.

fanotify gives each write the number of the process that made it (fanotify(7)); that needs
CAP_SYS_ADMIN and the host's process numbers. Without, the processes that have an inotify watch on
the folder are listed (/proc/PID/fdinfo): who reverts is among them, as is the runtime.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
from itertools import islice
from pathlib import Path

from podpath_protect.apply import TEMPORARY

_FAN_CLOEXEC, _FAN_NONBLOCK, _FAN_MARK_ADD = 0x1, 0x2, 0x1
_MASK = 0x2 | 0x8 | 0x08000000
"""FAN_MODIFY, FAN_CLOSE_WRITE, FAN_EVENT_ON_CHILD."""
_EVENT = struct.Struct("=IBBHQii")
_MOST_TEXT = 1 << 16
"""What is read of one list of watches: 500 of them. A runtime or an installer has a handful, and
anybody's process may have as many as the user is allowed.
"""
_MOST_DESCRIPTORS = 1024
_INOTIFY = re.compile(
    r"^inotify wd:\S+ ino:(?P<ino>[0-9a-f]+) sdev:(?P<dev>[0-9a-f]+)", re.MULTILINE
)


class WriterWatch:
    """Hears from fanotify who writes into a folder; armed in a fight only, since it needs rights
    that nothing else needs.
    """

    def __init__(self, directory: Path) -> None:
        """Arm it, or remember why it cannot be."""
        self.why_not = ""
        self._descriptor = -1
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = libc.fanotify_init(_FAN_CLOEXEC | _FAN_NONBLOCK, os.O_RDONLY | os.O_CLOEXEC)
        if descriptor < 0:
            self.why_not = f"fanotify: {os.strerror(ctypes.get_errno())} (it needs CAP_SYS_ADMIN)"
            return
        at = ctypes.c_int(-100)  # AT_FDCWD
        if (
            libc.fanotify_mark(
                descriptor, _FAN_MARK_ADD, ctypes.c_uint64(_MASK), at, os.fsencode(directory)
            )
            != 0
        ):
            self.why_not = f"fanotify: {os.strerror(ctypes.get_errno())}"
            os.close(descriptor)
            return
        self._descriptor = descriptor

    def writers(self) -> tuple[str, ...]:
        """Return who has written since it was last asked, ourselves left out."""
        found: dict[str, None] = {}
        while self._descriptor >= 0:
            try:
                data = os.read(self._descriptor, 8192)
            except BlockingIOError:
                break
            for offset in range(0, len(data) - _EVENT.size + 1, _EVENT.size):
                *_, descriptor, process = _EVENT.unpack_from(data, offset)
                name = _name_of(descriptor)
                if process not in {0, os.getpid()} and not name.endswith(TEMPORARY):
                    found[_spell(process)] = None
        return tuple(found)

    def close(self) -> None:
        """Close the descriptor."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def list_watchers(directory: Path, proc: Path = Path("/proc")) -> tuple[str, ...]:
    """Return the processes that have an inotify watch on a folder, as far as we may see them;
    ourselves left out.
    """
    try:
        there = directory.stat()
    except OSError:
        return ()
    wanted = (there.st_ino, os.major(there.st_dev) << 20 | os.minor(there.st_dev))
    processes = sorted(int(entry.name) for entry in proc.iterdir() if entry.name.isdigit())
    others = (number for number in processes if number != os.getpid())
    return tuple(
        _spell(number, proc) for number in others if wanted in _watched_by(proc / str(number))
    )


def _watched_by(process: Path) -> set[tuple[int, int]]:
    watched: set[tuple[int, int]] = set()
    try:
        for descriptor in islice((process / "fd").iterdir(), _MOST_DESCRIPTORS):
            if descriptor.readlink().name == "anon_inode:inotify":
                with (process / "fdinfo" / descriptor.name).open("rb") as file:
                    text = file.read(_MOST_TEXT).decode("ascii", "replace")
                watched |= {
                    (int(found["ino"], 16), int(found["dev"], 16))
                    for found in _INOTIFY.finditer(text)
                }
    except OSError:
        return watched  # it ended, or is not ours to see
    return watched


def _name_of(descriptor: int) -> str:
    if descriptor < 0:
        return ""
    try:
        return Path(f"/proc/self/fd/{descriptor}").readlink().name
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _spell(process: int, proc: Path = Path("/proc")) -> str:
    try:
        name = (proc / str(process) / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        name = "a process that has ended"
    return f"{name} (process {process})"
