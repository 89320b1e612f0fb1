"""/proc/sys as it is: values read, patterns expanded, devices listed. It reads and never
writes.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from podpath_protect.sysctl.keys import EVERYWHERE, Key

PROC_SYS = Path("/proc/sys")
_LONGEST = 1 << 16


class RawValue(NamedTuple):
    """What a key's file holds."""

    value: str | None
    """White space made single blanks, as it means nothing to the kernel; None where it could not be
    read.
    """
    missing: bool = False
    why: str = ""
    """Why it could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SysctlTree:
    """A tree of sysctls."""

    root: Path = PROC_SYS

    def read(self, key: Key) -> RawValue:
        """Read a key. Without the layers of `open`, since a look reads one for each pod's
        device.
        """
        try:
            descriptor = os.open(
                "/".join((str(self.root), *key.segments)), os.O_RDONLY | os.O_CLOEXEC
            )
            try:
                data = os.read(descriptor, _LONGEST)
            finally:
                os.close(descriptor)
            return RawValue(" ".join(data.decode("utf-8", "replace").split()))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return RawValue(None, missing=True)
        except OSError as error:
            return RawValue(None, why=error.strerror or str(error))

    def is_read_only(self, key: Key) -> bool:
        """Tell whether the kernel offers a key for reading only, as it does outside of its own
        namespace for what all share.
        """
        try:
            return not key.path(self.root).stat().st_mode & (
                stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
            )
        except OSError:
            return False

    def expand(self, pattern: Key) -> tuple[Key, ...]:
        """Return the keys that a pattern stands for now, segment by segment; a key that is no
        pattern stands for itself.

        `all` and `default` are no devices: a pattern in a device's place does not reach them.
        """
        if not pattern.is_pattern:
            return (pattern,)
        found: list[tuple[str, ...]] = [()]
        for depth, segment in enumerate(pattern.segments):
            if not Key((segment,)).is_pattern:
                found = [(*above, segment) for above in found]
                continue
            devices_here = Key(pattern.segments).device is not None and depth == 3
            found = [
                (*above, name)
                for above in found
                for name in self.list(Key(above))
                if fnmatchcase(name, segment) and not (devices_here and name in EVERYWHERE)
            ]
        return tuple(
            key
            for key in map(Key, found)
            if os.path.lexists("/".join((str(self.root), *key.segments)))
        )

    def list(self, key: Key) -> tuple[str, ...]:
        """Return the names in a directory of the tree; none where there is none."""
        try:
            return tuple(sorted(os.listdir(key.path(self.root))))  # noqa: PTH208  # names are wanted
        except OSError:
            return ()

    def devices(self) -> tuple[str, ...]:
        """Return the names of the namespace's devices."""
        return tuple(
            name for name in self.list(Key(("net", "ipv4", "conf"))) if name not in EVERYWHERE
        )
