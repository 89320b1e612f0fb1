"""Who writes rules, routes, devices and sysctls on a node, by what signs each is known, and when it
writes them again: one table (`owners.toml`).

What bears no sign is nobody's that is known: an admin's perhaps, and saying so would be a guess.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from podpath.net.data_files import read_data
from podpath.net.provenance import Span
from podpath.net.tables import parse_tables


class OwnerSign(StrEnum):
    """By what an owner is known."""

    CHAIN = "chain"
    TABLE = "table"
    COMMENT = "comment"
    DEVICE = "device"
    PROTOCOL = "protocol"
    FILE = "file"
    PRIORITY = "priority"
    """Of a rule of the routing policy, with what it looks at."""
    PLACE = "place"
    """Where it stands: in a pod's own namespace, say."""
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


class OwnedKind(StrEnum):
    """What has an owner."""

    RULE = "rule"
    POLICY = "policy"
    """Of a chain: what becomes of what no rule decides on."""
    ROUTE = "route"
    LOOKUP = "ip rule"
    DEVICE = "device"
    SYSCTL = "sysctl"


class Writer(NamedTuple):
    """Who is known to write a thing that bears no sign, or another's."""

    program: str
    note: str = ""
    """When it does, and what keeps it from it."""

    def __str__(self) -> str:
        """Spell it as a whole."""
        if self.note:
            return f"{self.program} ({self.note})"
        return self.program


class Owned(NamedTuple):
    """A thing that an answer names, and whose it is."""

    kind: OwnedKind
    name: str
    """A rule by its chain and position, a route by its prefix, all else by its name."""
    netns: str
    """The namespace that it is in; empty for rules."""
    span: Span | None
    """Where it stands; None where nothing states it."""
    owner: Owner
    """`UNSIGNED` where nobody is known."""
    writers: tuple[Writer, ...] = ()
    """Who else is known to write such a thing."""


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
    priorities: tuple[str, ...] = ()
    """Rules of the routing policy: `PRIORITY: from SRC to DST fwmark MARK lookup TABLE`."""
    places: tuple[str, ...] = ()
    """Where things stand that bear no other sign: `pod NAMESPACE/NAME`, `host DEVICE`."""
    signs: bool = False
    """True where it comments its rules that name an address."""
    again: str
    devices_again: str = ""
    """When it writes its devices again, and what is on them; empty where that is `again`."""
    instead: str
    writes: tuple[Writes, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """Who is known to write things that bear no sign."""

    kind: str
    """A value of `OwnedKind`."""
    patterns: tuple[str, ...]
    """How such a thing is spelled."""
    writers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnersFile:
    """The table."""

    owner: tuple[OwnerRow, ...]
    habit: tuple[Habit, ...]


@cache
def _load() -> OwnersFile:
    return parse_tables(read_data("podpath.net", "owners.toml"), "owners.toml", OwnersFile)


def load_owners() -> tuple[OwnerRow, ...]:
    """Read the table."""
    return _load().owner


@cache
def list_writers(kind: OwnedKind, spelled: str) -> tuple[Writer, ...]:
    """Return who is known to write such a thing: programs that write the sysctl, and those whose
    habit it is.
    """
    programs = _list_programs(spelled) if kind is OwnedKind.SYSCTL else ()
    habits = [one for one in _load().habit if one.kind == kind and _fits(spelled, one.patterns)]
    return (*programs, *(Writer(name) for one in habits[:1] for name in one.writers))


def _list_programs(sysctl: str) -> Iterator[Writer]:
    """Yield the programs that write a sysctl."""
    for row in load_owners():
        for writes in row.writes:
            if _fits(sysctl, writes.keys):
                yield Writer(row.name, writes.note)


def _fits(spelled: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(spelled, pattern) for pattern in patterns)


@cache
def _patterns(ground: OwnerSign) -> tuple[tuple[re.Pattern[str], OwnerRow], ...]:
    """Return what a sign may look like, with whose it is."""
    columns = {
        OwnerSign.CHAIN: lambda row: row.chains,
        OwnerSign.TABLE: lambda row: row.tables,
        OwnerSign.COMMENT: lambda row: row.comments,
        OwnerSign.DEVICE: lambda row: row.devices,
        OwnerSign.PROTOCOL: lambda row: row.protocols,
        OwnerSign.PRIORITY: lambda row: row.priorities,
        OwnerSign.PLACE: lambda row: row.places,
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
    again = (row.devices_again if ground is OwnerSign.DEVICE else "") or row.again
    return Owner(program=row.name, ground=ground, sign=sign, again=again, instead=row.instead)
