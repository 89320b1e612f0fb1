"""The sysctls of the network namespace that this process is in, as `sysctl -a` prints them.

The program takes 50 ms for what 10 ms of reading give, since it goes through the whole of
/proc/sys: too much where a node has hundreds of namespaces.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

_ROOT = "/proc/sys"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_OBSOLETE = frozenset({"base_reachable_time", "retrans_time"})
"""What `sysctl` leaves out: the same in milliseconds stands beside it."""
_MOST = 1 << 13
"""Bytes of one value; longer than any that the kernel prints."""
_SPELLED = str.maketrans("./", "/.")
"""In a key `.` parts words, and a `.` in a device's name becomes `/` (sysctl(8))."""


class _Entry(NamedTuple):
    """What stands in a folder, as far as its name says."""

    name: str
    key: str
    """As `sysctl` spells it."""
    spelled: bytes
    """The key, as it is printed."""
    is_folder: bool


Plans = dict[tuple[str, ...], tuple[_Entry, ...]]
"""What stands in folders that were read before, by their keys and names: hundreds of namespaces
have the same ones.
"""


def list_sysctls(below: str = "net", plans: Plans | None = None) -> bytes:
    """Return all readable sysctls below a folder, a line each (several for a value of several).

    `plans` are those of the namespaces that were read before.
    """
    try:
        folder = os.open(f"{_ROOT}/{below}", _FOLDER)
    except OSError:
        return b""
    lines: list[bytes] = []
    try:
        _read_folder(folder, f"{below}/".translate(_SPELLED), lines, {} if plans is None else plans)
    finally:
        os.close(folder)
    return b"".join(lines)


def _read_folder(folder: int, above: str, lines: list[bytes], plans: Plans) -> None:
    """Add the lines of an open folder: what stands in it is opened by its name alone, so that the
    kernel need not walk down to it each time.
    """
    try:
        names = (above, *os.listdir(folder))
        plan = plans.get(names)
        if plan is None:
            plan = plans[names] = tuple(_plan_folder(folder, above))
    except OSError:  # a device went
        return
    for name, key, spelled, is_folder in plan:
        if is_folder:
            _read_below(folder, name, f"{key}.", lines, plans)
            continue
        value = _read_value(name, folder)
        if value is None:
            continue
        if value.count(b"\n") == 1 and value.endswith(b"\n"):
            lines.append(b"%s = %s" % (spelled, value))
        else:
            lines += [b"%s = %s\n" % (spelled, line) for line in value.splitlines() or [b""]]


def _plan_folder(folder: int, above: str) -> Iterator[_Entry]:
    """Yield what stands in a folder, in the order of the names."""
    with os.scandir(folder) as listed:
        entries = sorted((each.name, each.is_dir(follow_symlinks=False)) for each in listed)
    for name, is_folder in entries:
        if is_folder or name not in _OBSOLETE:
            key = above + name.translate(_SPELLED)
            yield _Entry(name, key, key.encode("utf-8", "surrogateescape"), is_folder)


def _read_below(folder: int, name: str, above: str, lines: list[bytes], plans: Plans) -> None:
    try:
        inner = os.open(name, _FOLDER, dir_fd=folder)
    except OSError:  # as above
        return
    try:
        _read_folder(inner, above, lines, plans)
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
