"""Outputs in which each row stands on its own: sessions of routing daemons, proxies of a mesh, a
program's system calls, a machine's parts.

The outputs are tables of `listed.toml`. A row that convicts is a message of its line
(`evidence.messages`); here every row that is understood is kept, so that what is left is known not
to be read. Of some of these outputs no line decides what becomes of a packet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample, share
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.tokenizer import strip_terminal
from podpath.net.provenance import Source
from podpath.net.word_file import read_word_file

_ALIKE = 0.6
"""The share of lines that are rows where no heading names the output."""


class Listed(NamedTuple):
    """One kind of output."""

    name: str
    head: re.Pattern[str]
    """A line that only this output has; rows that are most of a text count, too."""
    rows: re.Pattern[str]
    """A line of it that is understood, the heading included."""
    programs: frozenset[str] = frozenset()
    """Programs that print nothing else."""
    decides: bool = True


def _read_kind(table: Mapping[str, Any]) -> Listed:
    """Return a kind of output of its file."""
    head, rows = table["head"], table["rows"]
    return Listed(
        table["name"],
        re.compile(rf"\s*(?:{head})\s*$"),
        re.compile(rf"\s*(?:{head}|{rows})\s*$"),
        frozenset(table.get("programs", "").split()),
        table.get("decides", True),
    )


_FILE = read_word_file("podpath.evidence.nettools", "listed.toml")
KINDS: tuple[Listed, ...] = tuple(map(_read_kind, _FILE["output"]))
"""In the order they are asked."""


def make_format(kind: Listed) -> Format:
    """Return the format of a kind of output."""

    def recognise(source: Source) -> int:
        """Recognize the heading, or rows that are most of the text."""
        lines = [strip_terminal(line) for line in sample(source)]
        if not lines:
            return NO
        rows = share(lines, kind.rows)
        if parse_command(source.command).program in kind.programs and rows >= _ALIKE:
            return CERTAIN
        if any(kind.head.match(line) for line in lines) and rows >= _ALIKE:
            return LIKELY
        return NO

    def read(source: Source) -> Reading:
        """Keep the rows that are understood."""
        ledger = LineLedger(source)
        for index, line in enumerate(ledger.lines):
            if kind.rows.match(strip_terminal(line)):
                ledger.head(index)
        return ledger.close(f"a row of {kind.name}")

    return Format(kind.name, recognise, read, decides=kind.decides)


FORMATS = tuple(map(make_format, KINDS))
