"""kubectl's tables: cells by the columns of the heading, or by wide gaps where a paste has moved
them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from podpath.evidence.text.tokenizer import Column, parse_columns

_HEADING = re.compile(r"\s*(?:NAMESPACE\s+)?(?:NAME|LAST SEEN|FIRST SEEN)\s+[A-Z]")
_GAP = re.compile(r"\s{2,}|\t+")
_TITLE = re.compile(
    r"NOMINATED NODE|NODE SELECTOR|READINESS GATES|(?:LAST|FIRST) SEEN|AUTO ASSIGN|AVOID BUGGY IPS|"
    r"IPADDRESSPOOL SELECTORS|PEER SELECTORS|BFD PROFILE|MULTI HOPS|\S+"
)
"""A title of a heading that a paste has left with single blanks."""
_CELL = re.compile(r"\S+(?: \([^)]*\)| \+ \d+ more\.\.\.)?")
"""A cell of a row with single blanks: `3 (4h ago)`, `10.1.1.1:80 + 2 more...`."""
MOVED = -1
"""Where a column stands whose place a paste has lost."""


def is_heading(line: str) -> bool:
    """Tell whether a line is the heading of one of kubectl's tables."""
    return _HEADING.match(line) is not None and line.upper() == line


def parse_heading(line: str) -> tuple[Column, ...]:
    """Return the columns of a heading, without their places where only single blanks part them."""
    columns = tuple(parse_columns(line.expandtabs(8)))
    if all(_TITLE.fullmatch(column.title) for column in columns):
        return columns
    return tuple(Column(title, MOVED, MOVED) for title in _TITLE.findall(line))


def parse_row(columns: Sequence[Column], line: str) -> Mapping[str, str] | None:
    """Return the cells of a row by their titles; None where the row does not fit the heading.

    Where a heading has single blanks, a row that lacks a cell cannot be told from one that lacks
    another.
    """
    if columns[0].start == MOVED:
        words = _GAP.split(line.strip()) if _GAP.search(line.strip()) else _CELL.findall(line)
        fitting = len(words) == len(columns)
        pairs = zip(columns, words, strict=False)
        return {column.title: cell for column, cell in pairs} if fitting else None
    text = line.expandtabs(8)
    fits = all(
        column.start == 0 or text[column.start - 1 : column.start] in {" ", ""}
        for column in columns
    )
    if fits:
        cells = [text[column.start : column.end].strip() for column in columns]
        named = [
            cell
            for column, cell in zip(columns, cells, strict=True)
            if column.title in {"NAME", "NAMESPACE"}
        ]
        if (
            all(cells[:1])
            and not any("  " in cell for cell in cells[:-1])
            and not any(" " in cell for cell in named)
        ):
            return {column.title: cell for column, cell in zip(columns, cells, strict=True)}
    parts = _GAP.split(line.strip(), maxsplit=len(columns) - 1)
    if " " in parts[0]:
        parts = line.split(maxsplit=len(columns) - 1)
    if len(parts) < 2:
        return None
    return {column.title: cell for column, cell in zip(columns, parts, strict=False)}
