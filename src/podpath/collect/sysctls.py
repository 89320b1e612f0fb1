"""The sysctls of the network namespace that this process is in, as `sysctl -a` prints them.

The program takes 50 ms for what 10 ms of reading give, since it goes through the whole of
/proc/sys: too much where a node has hundreds of namespaces.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

_ROOT = "/proc/sys"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_OBSOLETE = frozenset({"base_reachable_time", "retrans_time"})
"""What `sysctl` leaves out: the same in milliseconds stands beside it."""
_MOST = 1 << 13
"""Bytes of one value; longer than any that the kernel prints."""
_SPELLED = str.maketrans("./", "/.")
"""In a key `.` parts words, and a `.` in a device's name becomes `/` (sysctl(8))."""


def list_sysctls(below: str = "net") -> bytes:
    """Return all readable sysctls below a folder, a line each (several for a value of several)."""
    try:
        folder = os.open(f"{_ROOT}/{below}", _FOLDER)
    except OSError:
        return b""
    try:
        return b"".join(_read_folder(folder, f"{below}/".translate(_SPELLED)))
    finally:
        os.close(folder)


def _read_folder(folder: int, above: str) -> Iterator[bytes]:
    """Yield the lines of an open folder: what stands in it is opened by its name alone, so that
    the kernel need not walk down to it each time.
    """
    try:
        with os.scandir(folder) as listed:
            entries = sorted((each.name, each.is_dir(follow_symlinks=False)) for each in listed)
    except OSError:  # a device went
        return
    for name, is_folder in entries:
        key = above + name.translate(_SPELLED)
        if is_folder:
            yield from _read_below(folder, name, f"{key}.")
            continue
        value = None if name in _OBSOLETE else _read_value(name, folder)
        if value is None:
            continue
        spelled = key.encode("utf-8", "surrogateescape")
        if value.count(b"\n") == 1 and value.endswith(b"\n"):
            yield b"%s = %s" % (spelled, value)
        else:
            yield from (b"%s = %s\n" % (spelled, line) for line in value.splitlines() or [b""])


def _read_below(folder: int, name: str, above: str) -> Iterator[bytes]:
    try:
        inner = os.open(name, _FOLDER, dir_fd=folder)
    except OSError:  # as above
        return
    try:
        yield from _read_folder(inner, above)
    finally:
        os.close(inner)


def _read_value(name: str, folder: int) -> bytes | None:
    """Return a value; None where the kernel shows none (one that is only written, a secret)."""
    try:
        descriptor = os.open(name, os.O_RDONLY, dir_fd=folder)
    except OSError:
        return None
    try:
        return os.read(descriptor, _MOST)
    except OSError:
        return None
    finally:
        os.close(descriptor)
