"""Modules as a wheel has them: public names documented, private ones not, every line in place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scripts.stripped_sources import list_imported, narrow_indents, strip_notes

SOURCE = Path(__file__).resolve().parents[2] / "src"
MODULE = '''\
"""Doors of a house.

There are many of them.
"""

WIDTH = 90  # as the norm says
"""In centimeters."""
_HEIGHT = 200
"""Of no interest to others."""


class Door:
    """A door."""

    width: int
    """In centimeters, too."""
    _key: str = ""
    """Who has it
    may enter.
    """

    def __init__(self) -> None:
        """Hang the door."""
        self.open = False

    def enter(self) -> None:
        """Go in."""

        def knock() -> None:
            """Make a noise."""
            raise RuntimeError

        # Nobody is in.
        self._turn()
        knock()

    def _turn(self) -> None:
        """Turn the key."""
        self.open = True

    def _stay(self) -> None:
        """Do nothing."""


class _Hinge:
    """A hinge."""

    size: int
    """Small."""

    def squeak(self) -> str:
        """Return a noise."""
        return "eek"
'''


def test_what_is_public_stays_documented() -> None:
    """Public classes, functions, fields and constants keep what is said of them."""
    stripped = strip_notes(MODULE)

    for kept in ("A door.", "Go in.", "Hang the door.", "In centimeters.", "In centimeters, too."):
        assert f'"""{kept}"""' in stripped


def test_what_is_private_is_not_documented() -> None:
    """Private names, functions inside others, and all of a private class lose it."""
    stripped = strip_notes(MODULE)

    for lost in (
        "Of no interest", "Who has it", "Make a noise", "Turn the key", "A hinge", "Small",
        "Return a noise", "may enter", "as the norm says", "Nobody is in",
    ):  # fmt: skip
        assert lost not in stripped


def test_an_inner_module_documents_nothing() -> None:
    """Its functions, fields and constants lose what is said of them, and its classes keep a dot,
    which a dataclass takes as it is, as does what has nothing else.
    """
    stripped = strip_notes(MODULE, inner=True)

    lost = ("Go in.", "Hang the door.", "Make a noise", "In centimeters.", "In centimeters, too.")
    assert not any(note in stripped for note in lost)
    assert "Do nothing." not in stripped
    door = next(one for one in ast.parse(stripped).body if isinstance(one, ast.ClassDef))
    assert (door.name, ast.get_docstring(door)) == ("Door", ".")
    assert ast.dump(ast.parse(stripped).body[0]) == ast.dump(ast.parse("WIDTH = 90").body[0])


@pytest.mark.parametrize("decorator", ["click.command()", "podpath.group", "functools.cache"])
def test_a_command_keeps_its_help(decorator: str) -> None:
    """Whatever else is decorated does not."""
    text = f'@{decorator}\ndef open_door() -> None:\n    """Open the door."""\n    return\n'

    kept = "Open the door." in strip_notes(text, inner=True)
    assert kept is decorator.startswith(("click", "podpath"))


@pytest.mark.parametrize(
    ("header", "stripped"),
    [
        ("def f(a: A, b: B = 'x:y', *c: C, **d: D) -> None:", "def f(a, b = 'x:y', *c, **d):"),
        ("def f(a: dict[str, int] = {1: 2}, /) -> tuple[int, ...]:", "def f(a = {1: 2}, /):"),
        ("def f(a: A = lambda x, y: {x}, *, b: B) -> A:", "def f(a = lambda x, y: {x}, *, b):"),
        ("def f(\n    a: dict[\n        int, str\n    ],\n) -> A:", "def f(\n    a,\n\n\n):"),
        ("async def f() -> (\n    A | B\n):", "async def f():\n\n"),
        ("def f(a, b=1):", "def f(a, b=1):"),
    ],
)  # fmt: skip
def test_an_inner_function_states_no_types(header: str, stripped: str) -> None:
    """What follows a type moves up where that ends in another line; the body stays where it was."""
    assert narrow_indents(f"{stripped}\n    return\n") == strip_notes(
        f"{header}\n    return\n", inner=True
    )
    assert header in strip_notes(f"{header}\n    return\n")


def test_fields_of_inner_classes_keep_their_types() -> None:
    """Dataclasses and named tuples are made of them."""
    text = (
        "class Door(NamedTuple):\n    width: int\n\n"
        "    def open(self, by: str) -> int:\n        return 1\n"
    )

    stripped = strip_notes(text, inner=True)

    assert narrow_indents(text.replace("(self, by: str) -> int", "(self, by)")) == stripped


def test_a_function_that_has_nothing_else_keeps_it() -> None:
    """Without its docstring it would have no body."""
    assert '"""Do nothing."""' in strip_notes(MODULE)


def test_a_package_keeps_its_docstring() -> None:
    """Any other module loses its own."""
    assert ast.get_docstring(ast.parse(MODULE)) == ast.get_docstring(
        ast.parse(strip_notes(MODULE, own=False))
    )
    assert ast.get_docstring(ast.parse(strip_notes(MODULE))) is None


def test_every_statement_stays_at_its_line() -> None:
    """A traceback from an installation names the repository's line."""
    namespace: dict[str, type] = {}
    exec(compile(strip_notes(MODULE), "door.py", "exec"), namespace)  # noqa: S102 - the text above

    with pytest.raises(RuntimeError) as raised:
        namespace["Door"]().enter()

    assert MODULE.splitlines()[raised.traceback[-1].lineno].strip() == "raise RuntimeError"


@pytest.mark.parametrize("text", ["", "import os\n", 'NAME = 1\n"""A name."""\n'])
def test_what_has_no_notes_is_left_alone(text: str) -> None:
    """Modules without notes are the same to the byte."""
    assert text == strip_notes(text)


TYPED = """from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doors import Door

WIDTHS: Sequence[int] = (
    80,
    90,
)
Ä = 1; LENGTH: int = 3


def list_widths(door: Door) -> Iterator[int]:
    narrow: list[int] = []
    yield from (*narrow, *WIDTHS)
"""


def test_what_only_types_need_is_not_imported() -> None:
    """Every statement stays where it was."""
    stripped = strip_notes(TYPED, inner=True)

    assert [line for line in stripped.splitlines() if line] == [
        "WIDTHS = (",
        " 80,",
        " 90,",
        " )",
        "Ä = 1; LENGTH = 3",
        "def list_widths(door):",
        " narrow = []",
        " yield from (*narrow, *WIDTHS)",
    ]
    assert TYPED.count("\n") == stripped.count("\n")
    assert TYPED.splitlines().index("    80,") == stripped.splitlines().index(" 80,")


def test_what_others_import_from_a_module_stays() -> None:
    """A name that a module only needs for types may be taken from there."""
    stripped = strip_notes(TYPED, inner=True, wanted={"Iterator"})

    assert "from collections.abc import Iterator\n" in stripped


def test_fields_keep_their_types() -> None:
    """A dataclass is made of them, and they are not looked up."""
    text = (
        "from __future__ import annotations\nfrom doors import Width\n\n\n"
        "class Door:\n    width: Width = 3\n"
    )

    assert narrow_indents(text) == strip_notes(text, inner=True)


def test_names_that_a_source_imports() -> None:
    """Each with the module that it is from."""
    text = "from doors.locks import Key, Lock as Bolt\nimport doors\n"

    assert [("doors.locks", "Key"), ("doors.locks", "Lock")] == list(list_imported(text))


INDENTED = '''\
class Door:
    text = """
        kept as it is
    """

    def enter(self, *doors):
        for door in doors:
            if door.open and (
                door.wide
            ):
                return f"{door.name:>{
                    door.width
                }}" \\
                    "!"
        raise RuntimeError
'''
NARROW = '''\
class Door:
 text = """
        kept as it is
    """

 def enter(self, *doors):
  for door in doors:
   if door.open and (
    door.wide
    ):
    return f"{door.name:>{
'''


def test_one_space_stands_for_a_level() -> None:
    """What a string holds stays, and a line that goes on stands one deeper."""
    assert narrow_indents(INDENTED).startswith(NARROW)
    assert INDENTED.count("\n") == narrow_indents(INDENTED).count("\n")


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py"))[::7], ids=lambda path: path.name)
def test_narrow_indents_mean_the_same(path: Path) -> None:
    """The tree of every module stays, and the line of each node."""
    text = path.read_text(encoding="utf-8")
    trees = [ast.parse(text), ast.parse(narrow_indents(text))]

    assert ast.dump(trees[0]) == ast.dump(trees[1])
    lines = [[getattr(node, "lineno", 0) for node in ast.walk(tree)] for tree in trees]
    assert lines[0] == lines[1]
