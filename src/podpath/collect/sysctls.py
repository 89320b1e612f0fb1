"""The sysctls of the network namespace that this process is in, as `sysctl -a` prints them.

The program takes 50 ms for what 10 ms of reading give, since it goes through the whole of
/proc/sys: too much where a node has hundreds of namespaces.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

_ROOT = "/proc/sys"
_OBSOLETE = frozenset({"base_reachable_time", "retrans_time"})
"""What `sysctl` leaves out: the same in milliseconds stands beside it."""
_MOST = 1 << 13
"""Bytes of one value; longer than any that the kernel prints."""
_SPELLED = str.maketrans("./", "/.")
"""In a key `.` parts words, and a `.` in a device's name becomes `/` (sysctl(8))."""


def list_sysctls(below: str = "net") -> bytes:
    """Return all readable sysctls below a folder, a line each (several for a value of several)."""
    return b"".join(_read_folder(f"{_ROOT}/{below}"))


def _read_folder(folder: str) -> Iterator[bytes]:
    try:
        entries = sorted(
            (entry.name, entry.is_dir(follow_symlinks=False)) for entry in os.scandir(folder)
        )
    except OSError:  # a device went
        return
    above = f"{folder[len(_ROOT) + 1 :]}/".translate(_SPELLED)
    for name, is_folder in entries:
        path = f"{folder}/{name}"
        if is_folder:
            yield from _read_folder(path)
            continue
        value = None if name in _OBSOLETE else _read_value(path)
        if value is None:
            continue
        key = (above + name.translate(_SPELLED)).encode("utf-8", "surrogateescape")
        if value.count(b"\n") == 1 and value.endswith(b"\n"):
            yield b"%s = %s" % (key, value)
        else:
            yield from (b"%s = %s\n" % (key, line) for line in value.splitlines() or [b""])


def _read_value(path: str) -> bytes | None:
    """Return a value; None where the kernel shows none (one that is only written, a secret)."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(descriptor, _MOST)
    except OSError:
        return None
    finally:
        os.close(descriptor)
