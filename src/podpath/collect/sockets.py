"""Listening sockets with the programs that own them, as `ss -tulnp` prints them.

`ss -p` looks at every open file of every process, each time that it runs; here that is looked at
once for all network namespaces, and `ss` asked for the sockets' inodes instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

COMMAND = ("ss", "-tulne")
_DETAILS = re.compile(rb"\s+(?:timer:|uid:|ino:).*")
_INODE = re.compile(rb"\sino:(\d+)")
_SOCKET = re.compile(r"socket:\[(\d+)\]")


def list_owners() -> Mapping[int, bytes]:
    """Return who has each socket open, by its inode, in `ss`'s words."""
    owners: dict[int, list[bytes]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            _note_process(entry.name, owners)
    return {inode: b"users:(%s)" % b",".join(words) for inode, words in owners.items()}


def _note_process(process: str, owners: dict[int, list[bytes]]) -> None:
    name: bytes | None = None
    with suppress(OSError):  # it ended
        for descriptor in os.scandir(f"/proc/{process}/fd"):
            with suppress(OSError):
                found = _SOCKET.fullmatch(os.readlink(descriptor.path))  # noqa: PTH115 - for each file of each process
                if found is None:
                    continue
                if name is None:
                    name = _read_name(process)
                said = b'("%s",pid=%s,fd=%s)' % (name, process.encode(), descriptor.name.encode())
                owners.setdefault(int(found[1]), []).append(said)


def _read_name(process: str) -> bytes:
    return Path(f"/proc/{process}/comm").read_bytes().rstrip(b"\n")


def name_owners(printed: bytes, owners: Mapping[int, bytes]) -> bytes:
    """Put the owners where `ss` printed the inodes of their sockets."""
    return b"".join(_name_owner(line, owners) for line in printed.splitlines(keepends=True))


def _name_owner(line: bytes, owners: Mapping[int, bytes]) -> bytes:
    found = _INODE.search(line)
    if found is None:
        return line
    owner = owners.get(int(found[1]))
    return _DETAILS.sub(b"", line.rstrip(b"\n")) + (b" " + owner if owner else b"") + b"\n"
