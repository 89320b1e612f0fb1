"""The shapes of console lines: what a line must look like to be some tool's output beyond doubt,
whatever stands round it.

A document's splitter needs to know where an output starts and ends before any reader sees it, also
where prose stands right above and below. Each table of `shapes.toml` says which lines start such an
output, which only go on with it, and what may stand between. Recognizing a format is the readers'
own business: a shape only marks off the block.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from podpath.evidence.documents.programs import PROGRAMS
from podpath.net.word_file import read_word_file


class OutputShape(NamedTuple):
    """One kind of output."""

    name: str
    programs: frozenset[str]
    """Programs that print it, or show it (`cat`)."""
    start: re.Pattern[str]
    """A line, white space at its ends taken off, that is this output wherever it stands."""
    more: re.Pattern[str] | None = None
    """A line, likewise, that only goes on with it."""
    nested: bool = False
    """True where any line that stands deeper than the first one goes on with it."""
    blanks: bool = False
    """True where the output itself holds blank lines."""
    objects: frozenset[str] = frozenset()
    """Objects of ip(8) that are printed so; empty where its programs print nothing else."""


def _make_shape(table: Mapping[str, Any]) -> OutputShape:
    """Return a shape of its file."""
    more = table.get("more")
    return OutputShape(
        table["name"],
        frozenset(table["programs"].split()),
        re.compile(table["start"]),
        None if more is None else re.compile(more),
        table.get("nested", False),
        table.get("blanks", False),
        frozenset(table.get("objects", "").split()),
    )


_FILE = read_word_file("podpath.evidence.documents", "shapes.toml")
SHAPES: tuple[OutputShape, ...] = tuple(map(_make_shape, _FILE["shape"]))
"""In the order they are asked; the first that a line fits is its shape."""

_MESSAGE = re.compile(r"(?P<name>[a-z][\w.-]*)(?:\[\d+\])?: \S")
_KNOWN_MESSAGES = re.compile(
    r"RTNETLINK answers|Error: |connect: |Defaulted container|Unable to use a TTY|Warning: |"
    r"Error from server|command terminated|\^C|"
    r"FATA|bash: |sh: |Cannot |modprobe: |Usage: "
)


def match_shape(line: str) -> OutputShape | None:
    """Return the shape that a line starts, wherever it stands; None where it has none of its
    own.
    """
    text = line.strip()[:1000]
    return next((shape for shape in SHAPES if shape.start.match(text)), None) if text else None


def continues(shape: OutputShape, line: str, indent: int) -> bool:
    """Tell whether a line goes on with an output of that shape, whose first line stands at column
    `indent`.
    """
    text = line.strip()[:1000]
    if shape.start.match(text) or (shape.more is not None and shape.more.match(text)):
        return True
    return shape.nested and len(line) - len(line.lstrip()) > indent


def is_message(line: str) -> bool:
    """Tell whether a line is a program's own message (`iptables: No chain/target/match by that
    name.`).
    """
    text = line.strip()
    found = _MESSAGE.match(text)
    return (found is not None and found["name"] in PROGRAMS) or _KNOWN_MESSAGES.match(
        text
    ) is not None
