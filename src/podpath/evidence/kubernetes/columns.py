"""`kubectl get KIND -o custom-columns=NAME:.metadata.name,RANGE:.spec.podCIDR`: a table whose
columns are fields of objects.

The command says which field each column is; the heading says where the columns stand, since what a
row has in one may be empty or hold blanks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from podpath.evidence.commands.shells import parse_shell
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.kubernetes.picked import KINDS
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net.provenance import Source, Span
from podpath.net.trees import Tree

_COLUMNS = re.compile(r"(?:-o=?|--output=?)?custom-columns=(?P<columns>\S+)")
_COLUMN = re.compile(r"(?P<heading>[^:,]+):(?P<path>(?:\\.|[^,])+)")
_STEP = re.compile(r"\.?((?:[A-Za-z0-9_/-]|\\.)+)(?P<list>\[[0*]\])?")
_NONE = frozenset({"", "<none>"})
_NAME, _SPACE = ("metadata", "name"), ("metadata", "namespace")


class ShownField(NamedTuple):
    """A column: its heading, and the field that it shows."""

    heading: str
    path: tuple[str, ...]
    listed: bool
    """True where the field is in a list: its elements stand behind one another."""


class ColumnsCommand(NamedTuple):
    """What a command asks for."""

    kind: str
    columns: tuple[ShownField, ...]


def parse_columns(command: str) -> ColumnsCommand | None:
    """Read which fields of which kind a command prints; None where it asks for another thing."""
    steps = parse_shell(command)
    if not steps or steps[0].program not in {"kubectl", "oc", "k"}:
        return None
    words = steps[0].arguments
    asked = next(filter(None, map(_COLUMNS.fullmatch, words)), None)
    kinds = [KINDS[word.lower()] for word in words if word.lower() in KINDS]
    if asked is None or not kinds or "get" not in words:
        return None
    found = _COLUMN.finditer(asked["columns"])
    return ColumnsCommand(
        kinds[0], tuple(_make_column(one["heading"], one["path"]) for one in found)
    )


def _make_column(heading: str, path: str) -> ShownField:
    steps = list(_STEP.finditer(path.strip("{}")))
    names = tuple(step[1].replace("\\", "") for step in steps)
    return ShownField(heading, names, any(step["list"] for step in steps))


def recognise_columns(source: Source) -> int:
    """Recognize the heading that the command asks for."""
    asked = parse_columns(source.command or "")
    lines = sample(source)
    if asked is None or not lines:
        return NO
    return CERTAIN if lines[0].split() == [one.heading for one in asked.columns] else NO


def read_columns(source: Source) -> Reading:
    """Read a row as an object with the fields that it shows."""
    ledger = LineLedger(source)
    asked = parse_columns(source.command or "")
    starts: list[int] = []
    for index, line in enumerate(ledger.lines):
        if asked is None or not line.strip():
            continue
        if not starts:
            starts = _find_starts(line, [one.heading for one in asked.columns])
            ledger.head(index)
        elif starts:
            _add_row(ledger, index, asked, starts)
    return ledger.close("a row of an object's fields")


def _find_starts(line: str, headings: Sequence[str]) -> list[int]:
    """Return where each heading begins."""
    starts: list[int] = []
    for heading in headings:
        starts.append(line.index(heading, starts[-1] + 1 if starts else 0))
    return starts


def _add_row(ledger: LineLedger, index: int, asked: ColumnsCommand, starts: Sequence[int]) -> None:
    line = ledger.lines[index]
    ends = [*starts[1:], len(line)]
    cells = [line[first:last].strip() for first, last in zip(starts, ends, strict=True)]
    known = {one.path: cell for one, cell in zip(asked.columns, cells, strict=True)}
    if not known.get(_NAME):
        ledger.unread(index, "a row with an object's name")
        return
    span = ledger.span(index, index)
    tree = Tree(value={}, span=span)
    for column, cell in zip(asked.columns, cells, strict=True):
        if cell not in _NONE and column.path:
            tree = _put(tree, column, cell)
    ledger.add(
        ApiObjectRecord(
            span=span,
            kind=asked.kind,
            namespace=known.get(_SPACE, ""),
            name=known[_NAME],
            tree=tree,
        )
    )


def _put(tree: Tree, column: ShownField, cell: str) -> Tree:
    """Return a tree with a field more, at its path; a list holds plain texts."""
    span = tree.span
    whole = cell.startswith("[") and cell.endswith("]")
    words = tuple(Tree(value=word, span=span) for word in re.split(r"[,\s]+", cell.strip("[]")))
    value = Tree(value=words if column.listed or whole else cell, span=span)
    return _nest(tree, column.path, value, span)


def _nest(tree: Tree, path: tuple[str, ...], value: Tree, span: Span) -> Tree:
    head, *rest = path
    below = tree.fields.get(head, Tree(value={}, span=span))
    inner = _nest(below, tuple(rest), value, span) if rest else value
    return Tree(value={**tree.fields, head: inner}, span=span)


FORMAT = Format("kubectl get -o custom-columns", recognise_columns, read_columns)
