"""One small error planted into a module, and why nobody could notice it where that is argued."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "podpath"


@dataclass(frozen=True)
class Mutant:
    """One error: the module, what the operator is called, and the module's text."""

    module: Path
    operator: str
    before: str
    """The module's text without the error."""
    text: str

    @property
    def place(self) -> str:
        """Return the module as the page names it."""
        return self.module.relative_to(SOURCE).as_posix()

    @cached_property
    def line(self) -> int:
        """Return the number of the first line that differs."""
        pairs = zip(self.before.splitlines(), self.text.splitlines(), strict=False)
        return next(number for number, (old, new) in enumerate(pairs, 1) if old != new)

    @cached_property
    def lines(self) -> range:
        """Return the lines of the innermost statement that has the error; of a block, its head."""
        spans = [
            head(node) for node in ast.walk(ast.parse(self.before)) if isinstance(node, ast.stmt)
        ]
        around = [span for span in spans if self.line in span]
        return min(around, key=len, default=range(self.line, self.line + 1))

    @cached_property
    def change(self) -> str:
        """Return the lines that differ, in one line."""
        lines = unified_diff(self.before.splitlines(), self.text.splitlines(), lineterm="", n=0)
        changed = [line for line in lines if line[0] in "+-" and line[:3] not in {"+++", "---"}]
        return " ".join(" ".join(line.split()) for line in changed)


def head(node: ast.stmt) -> range:
    """Return the lines of a statement; of one with a body, those before the body."""
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    end = node.end_lineno or node.lineno
    if body:
        first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
        end = max(first.lineno - 1, node.lineno)
    return range(node.lineno, end + 1)


@dataclass(frozen=True, slots=True)
class Argument:
    """Why nobody could notice certain errors."""

    module: str
    """A pattern for the module's file, such as `datapath/nat/*.py`."""
    change: str
    """Words of the change, with `-` before the old line and `+` before the new one."""
    why: str
    operator: str = "*"
    """A pattern for the operator's name."""
    held: str = ""
    """The test that notices them, where somebody could, but not those who were asked."""


def read_arguments(path: Path) -> tuple[Argument, ...]:
    """Return what is held to be equivalent, and why."""
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["argued"]
    return tuple(Argument(**each) for each in listed)


def argument_for(mutant: Mutant, arguments: Sequence[Argument]) -> Argument | None:
    """Return why nobody could notice the error; None if nobody argued so."""
    for argument in arguments:
        if (
            fnmatch(mutant.place, argument.module)
            and fnmatch(mutant.operator, argument.operator)
            and argument.change in mutant.change
        ):
            return argument
    return None
