"""Which columns of a listing a filter leaves: `awk '{print $1,$6}'`, `cut -d' ' -f1,3`.

The command says which listing it is; the filter says which of its words are shown, so that a reader
of the listing knows what each word of a line was.

Not modeled: programs of awk that do more than print columns, and separators other than blanks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from podpath.evidence.commands.command import parse_command

_PROGRAM = re.compile(
    r"\s*(?P<chosen>/(?:[^/\\]|\\.)+/|!?\$?\w+\s*(?:[=!]=|[<>]=?|~)\s*[^{}]*)?"
    r"\s*\{\s*print\s*(?P<items>[^{}]*?);?\s*\}\s*"
)
_ITEM = re.compile(
    r"\s*,?\s*(?:\$(?P<column>[1-9][0-9]{0,2})(?![0-9])|\"(?P<between>(?:\\[tn]|[\s:=|,/>-])*)\")"
)
_SPLIT = re.compile(r"[,:|]?\s+(?:(?:[-=]>|[:=|-])\s+)?|,")
_KEEPING = frozenset({"grep", "egrep", "fgrep", "tail", "head", "sort", "uniq", "cat", "column"})
"""Filters that leave the lines that they show as they are."""
_CHANGING = re.compile(r"-[a-zA-Z]*[ocvnH][a-zA-Z]*|--(?:only-matching|count|line-number)")
"""Options with which some of them do not, or show the lines that were not looked for."""
_FIELDS = re.compile(r"-f(?P<fields>[1-9][0-9]{0,2}(?:,[1-9][0-9]{0,2})*)")


class PrintedColumns(NamedTuple):
    """What a filter leaves of a listing."""

    columns: tuple[int, ...]
    """The columns, from 1, in the order in which they are shown."""
    chosen: str
    """What awk chooses lines by; empty where it shows every line."""
    every: bool
    """True where no filter drops a line."""

    def split(self, line: str) -> tuple[str, ...] | None:
        """Return the words of a line, one for each column; None where they are not as many."""
        words = tuple(word for word in _SPLIT.split(line.strip()) if word)
        return words if len(words) == len(self.columns) else None


@lru_cache(maxsize=64)  # every recognizer asks it of the same source
def parse_printed(text: str | None) -> PrintedColumns | None:
    """Read which columns a command line shows; None where no filter chooses columns, or where
    another one changes the lines.
    """
    found: PrintedColumns | None = None
    every = True
    squeezed = False
    for words in parse_command(text).filters:
        name = words[0].rpartition("/")[2]
        columns = _read_columns(name, words[1:], squeezed=squeezed)
        if columns is not None:
            if found is not None:
                return None
            found = columns
        elif name == "tr" and "-s" in words:
            squeezed = True
        elif name not in _KEEPING or any(map(_CHANGING.fullmatch, words[1:])):
            return None
        else:
            every = every and name in {"sort", "cat", "column"}
    return None if found is None else found._replace(every=every and not found.chosen)


def _read_columns(name: str, words: Sequence[str], *, squeezed: bool) -> PrintedColumns | None:
    if name in {"awk", "gawk", "mawk"} and len(words) == 1:
        program = _PROGRAM.fullmatch(words[0])
        return None if program is None else _read_program(program)
    fields = next(filter(None, map(_FIELDS.fullmatch, words)), None)
    blank = any(word in {"-d ", " "} for word in words)
    if name == "cut" and fields is not None and blank and squeezed:
        numbers = tuple(sorted(int(one) for one in fields["fields"].split(",")))
        return PrintedColumns(numbers, "", every=True)
    return None


def _read_program(program: re.Match[str]) -> PrintedColumns | None:
    items = program["items"]
    columns: list[int] = []
    place = 0
    while place < len(items.rstrip()):
        item = _ITEM.match(items, place)
        if item is None:
            return None
        columns += [int(item["column"])] if item["column"] else []
        place = item.end()
    return PrintedColumns(tuple(columns), program["chosen"] or "", every=True) if columns else None
