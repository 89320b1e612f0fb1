"""The tables of docs/quality/parity.md, made of `parity-rows.toml` and of the tests that bear the
mark `parity`.

What a row says of podpath is the first sentence of each test that covers it: a row can say nothing
that no test shows. A row without a test says why, and one that is open why it is not to be relied
on.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ROWS = ROOT / "docs" / "quality" / "parity-rows.toml"
SECTIONS = "VWLNRIDPYG"
MARK = "parity"
_HEAD = "| row | theirs | podpath, as its tests show |\n|---|---|---|\n"
_SENTENCE = re.compile(r"(.*?[.!?])(?:\s|$)", re.DOTALL)
_ROW_NAMES = re.compile(r"^[A-Z]\d+(?:, [A-Z]\d+)*: ")
_ROW = re.compile(r"[A-Z]\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityRow:
    """One row, as the table of rows has it."""

    theirs: str
    differs: bool = False
    without: str = ""
    open: str = ""

    def __post_init__(self) -> None:
        """Refuse a row that says nothing."""
        if not self.theirs:
            raise ValueError("a row says what the others do")


class CoveringTest(NamedTuple):
    """A test that covers rows."""

    name: str
    shows: str
    """The first sentence of its docstring."""
    rows: tuple[str, ...]


def load_rows(text: str) -> dict[str, ParityRow]:
    """Read the rows; a key that nobody knows is a `TypeError`."""
    table: dict[str, dict[str, Any]] = tomllib.loads(text)
    return {name: ParityRow(**values) for name, values in table.items()}


def find_tests(text: str) -> Iterator[CoveringTest]:
    """Yield the tests of a module that bear the mark, in their order."""
    for node in ast.parse(text).body if MARK in text else ():
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        rows = tuple(name for each in node.decorator_list for name in _marked(each))
        if rows:
            yield CoveringTest(node.name, _first_sentence(ast.get_docstring(node) or ""), rows)


@cache
def covering_tests(folder: Path) -> tuple[CoveringTest, ...]:
    """Return all tests below a folder that bear the mark, by the names of their files."""
    paths = sorted(path for path in folder.rglob("test_*.py") if path.is_file())
    return tuple(test for path in paths for test in find_tests(path.read_text(encoding="utf-8")))


def render_table(section: str, rows: dict[str, ParityRow], tests: tuple[CoveringTest, ...]) -> str:
    """Write the rows of one section as a table of Markdown."""
    mine = sorted((name for name in rows if name[0] == section), key=lambda name: int(name[1:]))
    lines = [
        f"| {name} | {_cell(rows[name].theirs)} | {_says(name, rows, tests)} |" for name in mine
    ]
    return _HEAD + "".join(f"{line}\n" for line in lines)


def _says(name: str, rows: dict[str, ParityRow], tests: tuple[CoveringTest, ...]) -> str:
    row = rows[name]
    said = [f"{_cell(test.shows)} (`{test.name}`)" for test in tests if name in test.rows]
    if row.without:
        return _cell(row.without)
    heads = [f"**open**: {_cell(row.open)}"] if row.open else []
    heads += ["differs on purpose"] if row.differs else []
    return "<br>".join([*heads, *said])


def _marked(decorator: ast.expr) -> list[str]:
    """Return the rows that a decorator names; none where it is no mark of ours."""
    if not isinstance(decorator, ast.Call) or ast.unparse(decorator.func) != f"pytest.mark.{MARK}":
        return []
    names = [str(each.value) for each in decorator.args if isinstance(each, ast.Constant)]
    wrong = [name for name in names if _ROW.fullmatch(name) is None]
    if wrong or not names or len(names) != len(decorator.args) or decorator.keywords:
        raise ValueError(f"expected names of rows, saw {ast.unparse(decorator)}")
    return names


def _first_sentence(docstring: str) -> str:
    words = _ROW_NAMES.sub("", " ".join(docstring.split()))
    found = _SENTENCE.match(words)
    said = words if found is None else found[1]
    return said[:1].upper() + said[1:]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _make(section: str) -> Callable[[], str]:
    def make() -> str:
        rows = load_rows(ROWS.read_text(encoding="utf-8"))
        return render_table(section, rows, covering_tests(ROOT / "tests"))

    return make


PARTS: dict[str, Callable[[], str]] = {f"parity-{section}": _make(section) for section in SECTIONS}
