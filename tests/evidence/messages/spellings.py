"""Lines as programs print them, for each row of the table of messages: what `lines.txt` holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from podpath.net.messages import MessageKind

FILE = Path(__file__).with_name("lines.txt")


class Spelling(NamedTuple):
    """A line, and whose it is."""

    line: str
    kind: MessageKind
    sign: str
    """The sign of the row that it is for, without blanks around it."""
    others: frozenset[MessageKind]
    """The kinds that it tells of besides."""


def sections(file: Path) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield each heading of a file (`= a | b`, by its parts) with the lines below it."""
    heading: tuple[str, ...] = ("",)
    lines: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            yield heading, lines
            heading, lines = tuple(part.strip() for part in line[2:].split(" | ")), []
        elif line and not line.startswith("# "):
            lines.append(line)
    yield heading, lines


def read_spellings() -> tuple[Spelling, ...]:
    """Return all lines of the file."""
    found: list[Spelling] = []
    for (kind, *rest), lines in sections(FILE):
        others = (
            frozenset(MessageKind(name) for name in rest[1].split(", "))
            if len(rest) > 1
            else frozenset()
        )
        found += [Spelling(line, MessageKind(kind), rest[0], others) for line in lines]
    return tuple(found)


SPELLINGS = read_spellings()
