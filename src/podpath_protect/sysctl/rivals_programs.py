"""Running programs that are known to write sysctls, from the table of owners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.net.owners import load_owners
from podpath_protect.sysctl.claims import OtherWriter
from podpath_protect.sysctl.keys import parse_key

_COMM_LENGTH = 15
"""The kernel keeps no more of a program's name (TASK_COMM_LEN)."""


def known_writers(programs: Mapping[str, int]) -> tuple[OtherWriter, ...]:
    """Return the keys that running programs are known to write."""
    return tuple(_list_known(programs))


def _list_known(programs: Mapping[str, int]) -> Iterator[OtherWriter]:
    for row in load_owners():
        process = programs.get(row.process[:_COMM_LENGTH]) if row.process else None
        if process is None:
            continue
        for writes in row.writes:
            for key in writes.keys:
                yield OtherWriter(
                    actor=row.process,
                    pattern=parse_key(key),
                    value=None,
                    where=f"process {process}, known to write {key}",
                    note=writes.note,
                )
