"""The main list of an answer as a table: rows of plain values for a data frame, and HTML for a
notebook's cell. The values are those of the answer's published document, escaped there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podpath.report.escape import clip

Cell = str | int | float | bool | None
SHOWN, WIDTH = 20, 300
"""Rows of a table in a notebook, and characters of a cell."""


class TablePlan(NamedTuple):
    """Which list of a document is a table."""

    items: str
    """Where the list stands: `findings`, `branches.0.packets`."""
    columns: Mapping[str, str]
    """Each column's name, and where its value stands in an item: `evidence.0`."""


class AnswerTable(NamedTuple):
    """A table."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def fill_table(document: object, plan: TablePlan) -> AnswerTable:
    """Return the table that a document holds; without rows where it has no such list."""
    items = _pick(document, plan.items)
    listed = items if isinstance(items, list) else []
    return AnswerTable(tuple(plan.columns), tuple(_fill_row(item, plan) for item in listed))


def _fill_row(item: object, plan: TablePlan) -> tuple[Cell, ...]:
    return tuple(_spell(_pick(item, place)) for place in plan.columns.values())


def render_table(table: AnswerTable) -> str:
    """Render the first rows of a table as HTML; nothing where it has none."""
    if not table.rows:
        return ""
    from html import escape  # noqa: PLC0415 - slow to load, and only notebooks ask for it

    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = [_render_row(row) for row in table.rows[:SHOWN]]
    others = len(table.rows) - len(rows)
    more = f"<p>and {others:,} more: to_dataframe() has all</p>" if others else ""
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>{more}\n"


def _render_row(row: Sequence[Cell]) -> str:
    from html import escape  # noqa: PLC0415 - as above

    texts = ["" if cell is None else clip(str(cell), WIDTH) for cell in row]
    return f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in texts)}</tr>"


def _pick(value: object, place: str) -> object:
    """Return what stands at a place of a document; None where nothing does."""
    for part in place.split("."):
        if isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        elif isinstance(value, dict):
            value = value.get(part)
    return value


def _spell(value: object) -> Cell:
    """Return a value as a cell: a quoted line with its place, a list with its texts joined."""
    if isinstance(value, dict):
        return f"{value['source']}:{value['line']} | {value['text']}"
    if isinstance(value, list):
        return "; ".join(map(str, value))
    if value is None or isinstance(value, (str, int, float)):
        return value
    return str(value)
