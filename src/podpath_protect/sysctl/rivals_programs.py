"""Running programs that are known to write sysctls, from the table of owners."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.net.owners import load_owners
from podpath_protect.sysctl.claims import OtherWriter
from podpath_protect.sysctl.keys import parse_key

_COMM_LENGTH = 15
"""The kernel keeps no more of a program's name (TASK_COMM_LEN)."""


def known_writers(programs: Mapping[str, int]) -> tuple[OtherWriter, ...]:
    """Return the keys that running programs are known to write."""
    return tuple(
        OtherWriter(
            actor=row.process,
            pattern=parse_key(key),
            value=None,
            where=f"process {programs[row.process[:_COMM_LENGTH]]}, known to write {key}",
            note=writes.note,
        )
        for row in load_owners()
        if row.process and row.process[:_COMM_LENGTH] in programs
        for writes in row.writes
        for key in writes.keys
    )
