"""What a layout is: how a bundle of another tool is recognized, and what each of its files holds.

A layout is data. Its rows are asked in their order, and the first whose path fits decides; what no
row knows is read by its content, as any file is. A path is an expression for all that follows the
bundle's root; its groups `netns` and `host` say where the output was taken, and the others are
words of the command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from podpath.net.word_file import read_word_file

_WORD = re.compile(r"\{(\w+)\}")


class ReadAs(Enum):
    """How a file is read."""

    OUTPUT = "output"
    """It is what the command printed, from its first line to its last."""
    SNIFFED = "sniffed"
    """Its content decides what it is; the row says only where it was taken."""
    LOG = "log"
    """As above, and what is not understood of it decides nothing."""
    ASIDE = "aside"
    """It is not read: it states nothing of a network."""


class Part(NamedTuple):
    """One output among those that a file holds."""

    command: str
    lines: tuple[str, ...]
    first_line: int = 1
    netns: str | None = None
    name: str = ""
    """What tells it from the file's other parts, where its lines are not the file's own:
    `netns/web/ip-route`.
    """


Rewrite = Callable[[str], Iterable[Part]]
"""Says what a file of a form of its own holds in the words of the tools that print such facts."""


class LayoutRow(NamedTuple):
    """What the files of one path are."""

    path: str
    command: str = ""
    """The command whose output it is; `{name}` stands for a group of the path."""
    how: ReadAs = ReadAs.OUTPUT
    heading: str = ""
    """What begins a part of a file that holds several outputs; its group `command` is the command
    of what follows.
    """
    noise: str = ""
    """Lines that the bundle's tool wrote between those of the command."""
    rewrite: Rewrite | None = None


class HostRule(NamedTuple):
    """A file of a bundle that says on which node it was made."""

    path: str
    pattern: str = r"(?P<host>[A-Za-z0-9][\w.-]*)"
    """What its first line begins with."""


class BundleLayout(NamedTuple):
    """A kind of bundle."""

    name: str
    """As its users call it."""
    marks: tuple[str, ...]
    """Paths of files that only it has."""
    rows: tuple[LayoutRow, ...]
    needed: int = 1
    """How many of the marks have to be there."""
    hosts: tuple[HostRule, ...] = ()
    of_node: bool = False
    """True where a bundle is of one node: it is told from others by its folder where no file names
    the node.
    """
    empty_tells: bool = False
    """True where a file is there only if its command ran, with its errors: an empty one says that
    nothing was printed.
    """
    knows: Callable[[bytes], bool] | None = None
    """Tells a bundle that is a single file by its first bytes; None for one that is many files."""


class LaidOutFile(NamedTuple):
    """A file of a bundle with what its row says of it."""

    row: LayoutRow
    command: str
    netns: str | None
    host: str | None


def place(layout: BundleLayout, path: str, host: str | None = None) -> LaidOutFile | None:
    """Say what a file is by its path below the bundle's root; None where no row knows it."""
    for row in layout.rows:
        found = compiled(row.path).fullmatch(path)
        if found is not None:
            words = {name: value or "" for name, value in found.groupdict().items()}
            return LaidOutFile(
                row,
                _fill(row.command, words),
                words.get("netns") or None,
                words.get("host") or host,
            )
    return None


def read_layout(name: str) -> BundleLayout:
    """Read a layout from its file beside this module: the fields of a `BundleLayout`, each row a
    table with those of a `LayoutRow`.
    """
    table = read_word_file("podpath.evidence.layouts", name)
    rows = tuple(map(_read_row, table.pop("rows")))
    hosts = tuple(HostRule(*words) for words in table.pop("hosts", ()))
    return BundleLayout(**table | {"marks": tuple(table["marks"])}, rows=rows, hosts=hosts)


def _read_row(table: dict[str, Any]) -> LayoutRow:
    how = ReadAs(table.pop("how", ReadAs.OUTPUT.value))
    return LayoutRow(**table, how=how)


def _fill(template: str, words: dict[str, str]) -> str:
    return _WORD.sub(lambda found: words.get(found[1], found[0]), template)


def split_parts(row: LayoutRow, command: str, lines: Sequence[str]) -> Iterator[Part]:
    """Yield the outputs that a file holds: one, or those that its headings part."""
    kept = _silence(row, lines)
    headings = (
        [(index, compiled(row.heading).match(line)) for index, line in enumerate(kept)]
        if row.heading
        else []
    )
    starts = [(index, found) for index, found in headings if found is not None]
    if not starts:
        yield Part(command, tuple(kept))
        return
    for (index, found), end in zip(
        starts, [*(index for index, _ in starts[1:]), len(kept)], strict=True
    ):
        words = {name: value or "" for name, value in found.groupdict().items()}
        spelled = words.get("command", "") or _fill(command, words)
        begin = index if "keep" in words else index + 1
        yield Part(spelled, tuple(kept[begin:end]), begin + 1, words.get("netns") or None)


def _silence(row: LayoutRow, lines: Sequence[str]) -> Sequence[str]:
    """Empty the lines that are the bundle's own, so that those of the command keep their
    numbers.
    """
    if not row.noise:
        return lines
    noise = compiled(row.noise)
    return ["" if noise.fullmatch(line) else line for line in lines]


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of a layout, compiled once."""
    return re.compile(pattern)


def outputs(
    folder: str, commands: Iterable[str], mangle: Callable[[str], str], ending: str = ""
) -> Iterator[LayoutRow]:
    """Yield a row for each command of a tool that names files after its commands; `{device}` and
    the like stay open.
    """
    for command in commands:
        parts = _WORD.split(command)
        path = "".join(
            rf"(?P<{part}>[^/]+?)" if place % 2 else re.escape(mangle(part))
            for place, part in enumerate(parts)
        )
        yield LayoutRow(f"{folder}{path}{ending}", command)
