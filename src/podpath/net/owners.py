"""Who writes rules, routes, devices and sysctls on a node, by what signs each is known, and when it
writes them again: one table (`owners.toml`).

What bears no sign is nobody's that is known: an admin's perhaps, and saying so would be a guess.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources

from podpath.net.tables import parse_tables


class OwnerSign(StrEnum):
    """By what an owner is known."""

    CHAIN = "chain"
    TABLE = "table"
    COMMENT = "comment"
    DEVICE = "device"
    PROTOCOL = "protocol"
    FILE = "file"
    NONE = "none"
    """It bears no sign that any known program leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Who wrote something, and will write it again."""

    program: str
    ground: OwnerSign
    sign: str
    """The name that tells: a chain, a device, a comment."""
    again: str
    """When it writes it again."""
    instead: str
    """What to change instead, so that it stays changed."""


UNSIGNED = Owner(program="", ground=OwnerSign.NONE, sign="", again="", instead="")
"""Whose a line is that bears no sign of any known program: an admin's, or a script's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """Sysctls that a program is known to write."""

    keys: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerRow:
    """A row of the table."""

    name: str
    process: str = ""
    """As the kernel lists it; empty for what is no program that runs on."""
    chains: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    signs: bool = False
    """True where it comments its rules that name an address."""
    again: str
    instead: str
    writes: tuple[Writes, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnersFile:
    """The table."""

    owner: tuple[OwnerRow, ...]


@cache
def load_owners() -> tuple[OwnerRow, ...]:
    """Read the table."""
    file = resources.files("podpath.net") / "owners.toml"
    return parse_tables(file.read_text(encoding="utf-8"), file.name, OwnersFile).owner


@cache
def _patterns(ground: OwnerSign) -> tuple[tuple[re.Pattern[str], OwnerRow], ...]:
    """Return what a sign may look like, with whose it is."""
    columns = {
        OwnerSign.CHAIN: lambda row: row.chains,
        OwnerSign.TABLE: lambda row: row.tables,
        OwnerSign.COMMENT: lambda row: row.comments,
        OwnerSign.DEVICE: lambda row: row.devices,
        OwnerSign.PROTOCOL: lambda row: row.protocols,
    }
    rows = [(row, columns[ground](row)) for row in load_owners()]
    return tuple(
        (re.compile("|".join(map(fnmatch.translate, signs))), row) for row, signs in rows if signs
    )


@cache
def find_row(ground: OwnerSign, sign: str) -> OwnerRow | None:
    """Return the row of the program that leaves a sign; None where none is known to."""
    if not sign:
        return None
    return next((row for pattern, row in _patterns(ground) if pattern.match(sign)), None)


def name_owner(ground: OwnerSign, sign: str) -> Owner | None:
    """Return the owner that a sign tells of."""
    row = find_row(ground, sign)
    if row is None:
        return None
    return Owner(program=row.name, ground=ground, sign=sign, again=row.again, instead=row.instead)
