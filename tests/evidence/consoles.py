"""Console outputs as fixtures: a file holds `$ COMMAND` and what it printed, as the real tool on
the real kernel did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from podpath.evidence import recognition
from podpath.evidence.records import Reading, Record
from podpath.net.provenance import Source, Span

FOLDER = Path(__file__).resolve().parents[1] / "data" / "consoles"
RECORDED = FOLDER / "one-node"
"""All outputs of one state of one network namespace."""
Fields = tuple[str, tuple[tuple[str, object], ...]]
"""What a record states: its type's name and its fields, spans left out."""


def load_console(path: Path) -> Source:
    """Load one fixture as the block that a document's splitter gives: output only, with the
    command.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    return Source(
        name=path.name, lines=tuple(lines[1:]), first_line=2, command=lines[0].removeprefix("$ ")
    )


def recorded(name: str) -> Source:
    """Load a recorded output by the name of its file."""
    return load_console(RECORDED / f"{name}.txt")


def consoles() -> list[Source]:
    """Load all fixtures."""
    return [load_console(path) for path in sorted(FOLDER.rglob("*.txt"))]


def block(text: str, command: str | None = None, name: str = "ticket.md") -> Source:
    """Make a block of a document, its first and last line break left out."""
    return Source(
        name=name, lines=tuple(text.strip("\n").split("\n")) if text else (), command=command
    )


def read(source: Source) -> Reading:
    """Read a source that some format must recognise."""
    reading = recognition.read(source)
    assert reading is not None, source.lines[:3]
    return reading


def stated(record: Record) -> Fields:
    """Return what a record states, wherever it stands."""
    return type(record).__name__, tuple(
        (one.name, getattr(record, one.name)) for one in fields(record) if one.name != "span"
    )


def covered(reading: Reading) -> set[int]:
    """Return the numbers of all lines in spans of a reading."""
    spans = [record.span for record in reading.records] + [gap.span for gap in reading.gaps]
    return {line for span in spans for line in lines_of(span)}


def lines_of(span: Span) -> Iterator[int]:
    """Return the line numbers of a span."""
    return iter(range(span.line, span.last_line + 1))


def uncovered(source: Source, reading: Reading) -> list[str]:
    """Return the lines that are not blank and in no span."""
    inside = covered(reading)
    return [
        line
        for number, line in enumerate(source.lines, source.first_line)
        if line.strip() and number not in inside
    ]
