"""`kubectl get KIND -o custom-columns=NAME:.metadata.name,RANGE:.spec.podCIDR`, `-o name`,
`-o jsonpath={range .items[*]}...` and a table's columns that awk prints: lines of which the command
says what field each word is.

A heading says where the columns stand, since what a row has in one may be empty or hold blanks.
Without one, a row that has more or fewer words than the command prints is not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from podpath.evidence.commands.printed_columns import parse_printed
from podpath.evidence.commands.shells import parse_shell
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.kubernetes.picked import KINDS
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.kubernetes.spoken import services_and_pods
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.trees import read_tree
from podpath.net.provenance import Source, Span
from podpath.net.trees import Tree

_COLUMNS = re.compile(r"(?:-o=?|--output=?)?custom-columns=(?P<columns>\S+)")
_COLUMN = re.compile(r"(?P<heading>[^:,]+):(?P<path>(?:\\.|[^,])+)")
_STEP = re.compile(r"\.?((?:[A-Za-z0-9_/-]|\\.)+)(?P<list>\[[0*]\])?")
_NONE = frozenset({"", "<none>"})
_PLACE = ("spec", "nodeName")
_NAME, _SPACE = ("metadata", "name"), ("metadata", "namespace")
_GAP = re.compile(r"\s{2,}|\t+")
_NAMES = re.compile(r"(?:-o=?|--output=)name")
_NAME_ROW = re.compile(r"[a-z.]+/(\S+)")
_RANGE = re.compile(r"jsonpath=\{\s*range\s+\.items\[\*\]\s*\}(?P<row>.*)\{\s*end\s*\}")
_PART = re.compile(
    r"\{\s*(?:@?(?P<path>\.[^{}\"']+)|[\"'](?P<quoted>[^{}\"']*)[\"'])\s*\}|(?P<plain>[^{}]+)"
)
_OTHER_OUTPUT = re.compile(
    r"-o=?(?:json|yaml|name|go-|jsonpath).*|--output=(?!wide).*|json|yaml|.*path=.*"
)
_VALUED = frozenset({"-n", "--namespace", "-l", "--selector"})
_EVERYWHERE = re.compile(r"-A(?:o.*)?|--all-namespaces(?:=true)?")
_WIDE = re.compile(r"-A?o=?wide|--output=wide")
_WIDE_PAIRS = frozenset({("-o", "wide"), ("-Ao", "wide"), ("--output", "wide")})
_TITLES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Pod": (("NAME", "READY", "STATUS", "RESTARTS", "AGE"), ("IP", "NODE")),
    "Service": (
        ("NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE"), ("SELECTOR",),
    ),
    "Node": (("NAME", "STATUS", "ROLES", "AGE", "VERSION"), ("INTERNAL-IP", "EXTERNAL-IP")),
    "Endpoints": (("NAME", "ENDPOINTS", "AGE"), ()),
}  # fmt: skip
"""The columns of a kind's table, and those that `-o wide` adds (k8s.io/kubernetes
pkg/printers/internalversion/printers.go).
"""
_PATHS: Mapping[tuple[str, str], tuple[str, ...]] = {
    **{(kind, "NAME"): _NAME for kind in _TITLES},
    **{(kind, "NAMESPACE"): _SPACE for kind in _TITLES},
    ("Pod", "IP"): ("status", "podIP"),
    ("Pod", "NODE"): ("spec", "nodeName"), ("Service", "TYPE"): ("spec", "type"),
    ("Service", "CLUSTER-IP"): ("spec", "clusterIP"),
}  # fmt: skip
_ADDRESS = re.compile(r"[0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*|<none>|None")
_CELLS: Mapping[str, re.Pattern[str]] = {
    "IP": _ADDRESS, "CLUSTER-IP": _ADDRESS, "INTERNAL-IP": _ADDRESS,
    "NODE": re.compile(r"(?!(?:\d+[smhdy])+$)[a-z0-9][\w.-]*|<none>"),
}  # fmt: skip


class ShownField(NamedTuple):
    """A column: its heading, and the field that it shows."""

    heading: str
    path: tuple[str, ...]
    listed: bool
    """True where the field is in a list: its elements stand behind one another."""
    lists: frozenset[str] = frozenset()
    """The steps of the path that are lists."""


class ColumnsCommand(NamedTuple):
    """What a command asks for."""

    kind: str
    columns: tuple[ShownField, ...]
    namespace: str = ""
    headed: bool = True
    """True where a heading stands above the rows."""
    template: re.Pattern[str] | None = None
    """What a row looks like; None where its words are parted by blanks."""

    def split(self, line: str) -> Sequence[str] | None:
        """Return a row's cells; None where the row is another thing."""
        if self.template is not None:
            row = self.template.fullmatch(line.strip())
            return None if row is None else row.groups()
        cells = _GAP.split(line.strip())
        cells = cells if len(cells) == len(self.columns) else line.split()
        fits = len(cells) == len(self.columns) and all(map(_fits, self.columns, cells))
        return cells if fits else None


def parse_columns(command: str) -> ColumnsCommand | None:
    """Read which fields of which kind a command prints; None where it asks for another thing."""
    steps = parse_shell(command)
    if not steps or steps[0].program not in {"kubectl", "oc", "k"}:
        return None
    words = steps[0].arguments
    given = dict(pairwise(words))
    values = {given[option] for option in _VALUED & given.keys()}
    kinds = [KINDS[one.lower()] for one in words if one.lower() in KINDS and one not in values]
    if not kinds or "get" not in words:
        return None
    space = given.get("-n") or given.get("--namespace") or ""
    asked = next(filter(None, map(_COLUMNS.fullmatch, words)), None)
    if asked is not None:
        found = _COLUMN.finditer(asked["columns"])
        columns = tuple(_make_column(one["heading"], one["path"]) for one in found)
        return ColumnsCommand(kinds[0], columns, space, headed="--no-headers" not in words)
    if any(map(_NAMES.fullmatch, words)) or ("-o", "name") in pairwise(words):
        return ColumnsCommand(kinds[0], (_NAMED,), space, headed=False, template=_NAME_ROW)
    ranged = next(filter(None, map(_RANGE.search, words)), None)
    if ranged is not None:
        return _parse_template(kinds[0], space, ranged["row"])
    return _parse_printed(command, kinds[0], space)


def _parse_template(kind: str, space: str, row: str) -> ColumnsCommand | None:
    """Read a row of `{range .items[*]}`: fields in braces, and what is printed between them; None
    where no name is among them, or where nothing parts two.
    """
    columns: list[ShownField] = []
    texts = [""]
    for part in _PART.finditer(row):
        if part["path"] is not None:
            columns.append(_make_column("", part["path"]))
            texts.append("")
        else:
            text = part["quoted"] if part["quoted"] is not None else part["plain"]
            texts[-1] += text.replace("\\n", "").replace("\\t", "\t")
    known = [one.path for one in columns]
    if not (_NAME in known or (kind == "Pod" and _PLACE in known)) or not all(texts[1:-1]):
        return None
    # a field ends where the text behind it first stands: no other end is tried
    fields = "".join(f"(?>(.*?){_match_text(text)})" for text in texts[1:-1])
    head, tail = _match_text(texts[0].lstrip()), _match_text(texts[-1].rstrip())
    template = re.compile(f"{head}{fields}(.*?){tail}")
    return ColumnsCommand(kind, tuple(columns), space, headed=False, template=template)


def _match_text(text: str) -> str:
    """Return the pattern of a text, with any blanks for its own."""
    return re.sub(r"(?:\\\s)+", r"\\s+", re.escape(text))


def _parse_printed(command: str, kind: str, space: str) -> ColumnsCommand | None:
    """Read which columns of the usual table of a kind a filter leaves."""
    printed = parse_printed(command)
    words = parse_shell(command)[0].arguments
    titles = _TITLES.get(kind)
    if printed is None or titles is None or any(map(_OTHER_OUTPUT.fullmatch, words)):
        return None
    wide = any(map(_WIDE.fullmatch, words)) or bool(_WIDE_PAIRS & set(pairwise(words)))
    shown = [*titles[0], *(titles[1] if wide else ())]
    shown = ["NAMESPACE", *shown] if any(map(_EVERYWHERE.fullmatch, words)) else shown
    if max(printed.columns) > len(shown):
        return None
    columns = tuple(
        ShownField(shown[column - 1], _PATHS.get((kind, shown[column - 1]), ()), listed=False)
        for column in printed.columns
    )
    named = any(one.path == _NAME for one in columns)
    return ColumnsCommand(kind, columns, space, headed=False) if named else None


def _fits(column: ShownField, cell: str) -> bool:
    """Tell whether a cell can be what its column holds: `3 (4h ago)` moves those behind it."""
    kind = _CELLS.get(column.heading)
    return kind is None or kind.fullmatch(cell) is not None


_NAMED = ShownField("NAME", _NAME, listed=False)


def _make_column(heading: str, path: str) -> ShownField:
    steps = list(_STEP.finditer(path.strip("{}")))
    names = tuple(step[1].replace("\\", "") for step in steps)
    lists = frozenset(step[1] for step in steps if step["list"])
    return ShownField(heading, names, bool(lists), lists)


def recognise_columns(source: Source) -> int:
    """Recognize the heading that the command asks for."""
    asked = parse_columns(source.command or "")
    lines = sample(source)
    if asked is None or not lines:
        return NO
    if lines[0].split() == [one.heading for one in asked.columns]:
        return CERTAIN
    rows = [asked.split(line) for line in lines] if not asked.headed else []
    return CERTAIN if sum(map(bool, rows)) * 2 > len(lines) else NO


def read_columns(source: Source) -> Reading:
    """Read a row as an object with the fields that it shows."""
    ledger = LineLedger(source)
    asked = parse_columns(source.command or "")
    starts: list[int] = []
    for index, line in enumerate(ledger.lines):
        if asked is None or not line.strip():
            continue
        if not asked.headed:
            _add_unheaded(ledger, index, asked)
        elif starts:
            _add_row(ledger, index, asked, starts)
        elif line.split() == [one.heading for one in asked.columns]:
            starts = _find_starts(line, line.split())
            ledger.head(index)
    return ledger.close("a row of an object's fields")


def _find_starts(line: str, headings: Sequence[str]) -> list[int]:
    """Return where each heading begins."""
    starts: list[int] = []
    for heading in headings:
        starts.append(line.index(heading, starts[-1] + 1 if starts else 0))
    return starts


def _add_unheaded(ledger: LineLedger, index: int, asked: ColumnsCommand) -> None:
    """Add the object of a line that stands below no heading, or leave out the heading that a filter
    took along.
    """
    line = ledger.lines[index]
    cells = asked.split(line)
    if line.split() == [one.heading for one in asked.columns]:
        ledger.head(index)
    elif cells is None:
        ledger.unread(index, "a row with the fields that are asked for")
    else:
        _add_object(ledger, index, asked, cells)


def _add_row(ledger: LineLedger, index: int, asked: ColumnsCommand, starts: Sequence[int]) -> None:
    line = ledger.lines[index]
    if any(line[start - 1 : start].strip() for start in starts[1:]):
        ledger.unread(index, "a row whose columns stand below their headings")
        return
    ends = [*starts[1:], len(line)]
    cells = [line[first:last].strip() for first, last in zip(starts, ends, strict=True)]
    _add_object(ledger, index, asked, cells)


def _add_object(
    ledger: LineLedger, index: int, asked: ColumnsCommand, cells: Sequence[str]
) -> None:
    known = {one.path: cell for one, cell in zip(asked.columns, cells, strict=True)}
    if not (known.get(_NAME) or (_NAME not in known and known.get(_PLACE))):
        ledger.unread(index, "a row with an object's name")
        return
    span = ledger.span(index, index)
    tree = Tree(value={}, span=span)
    for column, cell in zip(asked.columns, cells, strict=True):
        if cell not in _NONE and column.path:
            tree = _put(tree, column, cell)
    record = ApiObjectRecord(
        span=span,
        kind=asked.kind,
        namespace=known.get(_SPACE, asked.namespace),
        name=known.get(_NAME, ""),
        tree=tree,
    )
    ledger.add(record)
    if asked.kind == "Pod" and record.name:
        for pod in services_and_pods(record):
            ledger.add(pod)


def _put(tree: Tree, column: ShownField, cell: str) -> Tree:
    """Return a tree with a field more, at its path; a list holds plain texts."""
    span = tree.span
    if cell.startswith(("[{", "{")):
        grown = read_tree(span.source, [cell], span.line).trees
        return _nest(tree, column.path, grown[0], span, column.lists) if grown else tree
    whole = cell.startswith("[") and cell.endswith("]")
    words = tuple(Tree(value=word, span=span) for word in re.split(r"[,\s]+", cell.strip("[]")))
    value = Tree(value=words if column.listed or whole else cell, span=span)
    return _nest(tree, column.path, value, span)


def _nest(
    tree: Tree,
    path: tuple[str, ...],
    value: Tree,
    span: Span,
    lists: frozenset[str] = frozenset(),
) -> Tree:
    """Return a tree with a value at a path; what the steps of `lists` hold is a list's element."""
    head, *rest = path
    below = tree.fields.get(head, Tree(value={}, span=span))
    inner = _nest(below, tuple(rest), value, span, lists) if rest else value
    inner = Tree(value=(inner,), span=span) if rest and head in lists else inner
    return Tree(value={**tree.fields, head: inner}, span=span)


FORMAT = Format("kubectl get -o custom-columns", recognise_columns, read_columns)
