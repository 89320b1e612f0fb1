"""Running programs that are known to write sysctls, from a table of such (`writers.toml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from podpath.net.tables import parse_tables
from podpath.protect.sysctl.claims import OtherWriter
from podpath.protect.sysctl.keys import parse_key

_COMM_LENGTH = 15
"""The kernel keeps no more of a program's name (TASK_COMM_LEN)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A program and keys that it writes."""

    program: str
    keys: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Writers:
    """The table."""

    writer: tuple[Writer, ...]


def load_writers() -> tuple[Writer, ...]:
    """Read the table."""
    file = resources.files("podpath.protect.sysctl") / "writers.toml"
    return parse_tables(file.read_text(encoding="utf-8"), file.name, Writers).writer


def list_programs(proc: Path) -> dict[str, int]:
    """Return the names of running programs, each with one process number; a container sees only its
    own.
    """
    found: dict[str, int] = {}
    try:
        processes = [entry.name for entry in proc.iterdir() if entry.name.isdigit()]
    except OSError:
        return {}
    for process in processes:
        try:
            found.setdefault(
                (proc / process / "comm").read_text(encoding="utf-8", errors="replace").strip(),
                int(process),
            )
        except OSError:
            continue
    return found


def known_writers(programs: Mapping[str, int]) -> tuple[OtherWriter, ...]:
    """Return the keys that running programs are known to write."""
    return tuple(
        OtherWriter(
            actor=writer.program,
            pattern=parse_key(key),
            value=None,
            where=f"process {programs[writer.program[:_COMM_LENGTH]]}, known to write {key}",
            note=writer.note,
        )
        for writer in load_writers()
        if writer.program[:_COMM_LENGTH] in programs
        for key in writer.keys
    )
