"""The answers about a fleet as text, CSV and one HTML file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from html import escape as escape_html
from io import StringIO
from typing import NamedTuple

from podpath_fleet.questions import FactChange, FaultGroup, FleetTables, Outlier, StateCount

_SHOWN = 40
"""Rows of each list that the text shows."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_STYLE = (
    "body{font:14px/1.45 sans-serif;margin:2em;max-width:110em}table{border-collapse:collapse}"
    "td,th{border-bottom:1px solid #ddd;padding:.25em .7em;text-align:left;vertical-align:top}"
    "td{overflow-wrap:anywhere;max-width:36em}"
)


class ReportList(NamedTuple):
    """One list of the report: a table with a title."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]


def list_answers(tables: FleetTables) -> tuple[ReportList, ...]:
    """Return what is to be told of a run."""
    return (
        ReportList("Bundles", StateCount._fields, tables.count_states()),
        ReportList("Faults", FaultGroup._fields, tables.list_faults()),
        ReportList("Nodes that differ from their pool", Outlier._fields, tables.list_outliers()),
    )


def list_changes(tables: FleetTables) -> tuple[ReportList, ...]:
    """Return what is to be told of two runs."""
    return (ReportList("Changes", FactChange._fields, tables.list_changes()),)


def render_text(lists: Iterable[ReportList]) -> str:
    """Return the lists as text, each row in a line or two."""
    parts: list[str] = []
    for one in lists:
        parts.append(f"{one.title}: {len(one.rows):,}")
        parts += [f"  {_spell_row(row)}" for row in one.rows[:_SHOWN]]
        if len(one.rows) > _SHOWN:
            parts.append(f"  and {len(one.rows) - _SHOWN:,} more: --csv or --html has all")
        parts.append("")
    return "\n".join(parts)


def _spell_row(row: tuple[object, ...]) -> str:
    match row:
        case StateCount():
            return f"{row.bundles:>7,}  {row.state}  {row.verdict}  {row.why}".rstrip()
        case FaultGroup():
            sure = "" if row.certain else " (possible)"
            since = f", since {row.since}" if row.since else ""
            return f"{row.nodes:>7,}  {row.check}{sure}{since}: {row.claim}\n           {row.names}"
        case Outlier():
            return (
                f"{row.nodes:>7,} of {row.of:,} in {row.pool or 'no pool'}: {row.fact} is "
                f"{row.value}, usually {row.usual}\n           {row.names}"
            )
        case FactChange():
            return f"{row.node}: {row.what}: {row.before or '(none)'} -> {row.after or '(none)'}"
        case _:
            return " ".join(map(str, row))


def render_csv(lists: Iterable[ReportList]) -> str:
    """Return the lists as CSV: the first column says which list a row is of. A spreadsheet takes no
    cell for a formula.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for one in lists:
        writer.writerow(("list", *one.columns))
        writer.writerows((one.title, *map(_spell_cell, row)) for row in one.rows)
    return text.getvalue()


def _spell_cell(value: object) -> object:
    """Put a quote before text that a spreadsheet would compute (OWASP, "CSV Injection")."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def render_html(lists: Iterable[ReportList]) -> str:
    """Return the lists as one HTML file, which loads and runs nothing."""
    body: list[str] = []
    for one in lists:
        heads = "".join(f"<th>{escape_html(name)}</th>" for name in one.columns)
        body.append(f"<h2>{escape_html(one.title)}: {len(one.rows):,}</h2><table><tr>{heads}</tr>")
        body += [_render_row(row) for row in one.rows]
        body.append("</table>")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>podpath fleet</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{_STYLE}</style>'
        f"</head><body><h1>Fleet</h1>{''.join(body)}</body></html>\n"
    )


def _render_row(row: tuple[object, ...]) -> str:
    cells = "".join(f"<td>{escape_html(str(value))}</td>" for value in row)
    return f"<tr>{cells}</tr>"
