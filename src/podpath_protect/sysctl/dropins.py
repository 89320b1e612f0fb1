"""sysctl.d as systemd applies it: which files count, in which order, and which line decides what a
key gets at the next boot.

Of two files with the same name the directory that comes first in `DIRECTORIES` counts; files are
applied in the order of their names. A later assignment of the same key replaces the earlier one,
and takes its place in the order only if its value differs. A key that is named outright beats every
pattern, `-KEY` without a value takes a key out of all patterns, and of several patterns the last
one applied wins (sysctl.d(5); systemd src/sysctl/sysctl.c, held against systemd-sysctl 252 in the
tests).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from podpath_protect.sysctl.keys import Key, parse_key

DIRECTORIES = (
    "etc/sysctl.d",
    "run/sysctl.d",
    "usr/local/lib/sysctl.d",
    "usr/lib/sysctl.d",
    "lib/sysctl.d",
)
_SUFFIX = ".conf"


class DropinLine(NamedTuple):
    """One line of a drop-in."""

    pattern: Key
    value: str | None
    """None where it takes the key out of patterns (`-KEY`)."""
    file: str
    line: int
    text: str

    @property
    def where(self) -> str:
        """Quote it with its place."""
        return f"{self.file}:{self.line}: {self.text}"


class Dropin(NamedTuple):
    """One file that counts."""

    path: Path
    text: str
    why: str = ""
    """Why it could not be read."""


def list_dropins(root: Path) -> tuple[Dropin, ...]:
    """Read the files that count, in the order in which they are applied."""
    chosen: dict[str, Path] = {}
    for directory in DIRECTORIES:
        folder = root / directory
        try:
            names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(_SUFFIX))
        except OSError:
            continue
        for name in names:
            chosen.setdefault(name, folder / name)
    return tuple(_read(chosen[name]) for name in sorted(chosen))


def _read(path: Path) -> Dropin:
    try:
        return Dropin(path, path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        return Dropin(path, "", error.strerror or str(error))


def parse_dropin(text: str, file: str) -> tuple[DropinLine, ...]:
    """Read the assignments of a file; lines that are none are left out, as systemd does."""
    found: list[DropinLine] = []
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        name, sign, value = stripped.partition("=")
        excluding = name.startswith("-")
        if not sign and not excluding:
            continue
        try:
            pattern = parse_key(name.lstrip("-").strip() if excluding else name.strip())
        except ValueError:
            continue
        found.append(
            DropinLine(pattern, " ".join(value.split()) if sign else None, file, number, stripped)
        )
    return tuple(found)


def order_assignments(assignments: Iterable[DropinLine]) -> tuple[DropinLine, ...]:
    """Return what is left when later lines have replaced earlier ones of the same key, in the order
    of application.
    """
    left: dict[Key, DropinLine] = {}
    for assignment in assignments:
        there = left.get(assignment.pattern)
        if there is not None and there.value == assignment.value:
            continue
        left.pop(assignment.pattern, None)
        left[assignment.pattern] = assignment
    return tuple(left.values())


def lookup_winner(ordered: Iterable[DropinLine], key: Key) -> DropinLine | None:
    """Return the line that decides a key; None where none sets it. Its value is None where the key
    is taken out.
    """
    last: DropinLine | None = None
    for assignment in ordered:
        if assignment.pattern == key:
            return assignment
        if (
            assignment.pattern.is_pattern
            and assignment.value is not None
            and assignment.pattern.matches(key)
        ):
            last = assignment
    return last


def read_assignments(root: Path, planned: Dropin | None = None) -> tuple[DropinLine, ...]:
    """Read what systemd would apply below a root, in order; with a drop-in of /etc that is only
    planned.
    """
    dropins = list_dropins(root)
    if planned is not None:
        others = (dropin for dropin in dropins if dropin.path.name != planned.path.name)
        dropins = tuple(sorted((*others, planned), key=lambda dropin: dropin.path.name))
    return order_assignments(
        assignment
        for dropin in dropins
        for assignment in parse_dropin(dropin.text, "/" + str(dropin.path.relative_to(root)))
    )
