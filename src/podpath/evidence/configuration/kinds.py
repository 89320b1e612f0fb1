"""Which program a configuration file is of: by its name, where a command or a label shows one, else
by words that only it has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from podpath.evidence.configuration.statements import Statement
from podpath.net.provenance import Source
from podpath.net.word_file import read_word_file

_PATH = re.compile(
    r"(?<![\w.:/-])(?P<path>(?:~|/)?(?:[\w.@%+-]+/)+[\w.@%+*-]+|"
    r"[\w-]+\.(?:conf|cfg|cnf|ini|toml|ya?ml|json|service|network|netdev|link|zone|db|rules|env))"
    r"(?![\w/])"
)
_PROGRAMS = ("/bin/", "/sbin/", "/proc/", "/sys/", "/usr/lib/", "/dev/")


class FileKind(NamedTuple):
    """A kind of file."""

    name: str
    paths: re.Pattern[str]
    """What its path looks like."""
    names: frozenset[str]
    """Words that settings or heads of blocks begin with; two different ones make the kind."""


def _read_kind(row: Sequence[str]) -> FileKind:
    name, paths, names = row
    return FileKind(name, re.compile(paths), frozenset(names.lower().split()))


_FILE = read_word_file("podpath.evidence.configuration", "kinds.toml")
KINDS: tuple[FileKind, ...] = tuple(map(_read_kind, _FILE["kinds"]))
"""In the order they are asked. The file's name counts first; words count where no name tells."""


def find_path(source: Source) -> str:
    """Return the name of the file that a block shows: of a command, a label, its first comment;
    else empty.
    """
    places = [
        source.command or "",
        source.label or "",
        *(line for line in source.lines[:2] if line.lstrip().startswith(("#", "//", ";"))),
    ]
    for text in places:
        found = [
            one["path"]
            for one in _PATH.finditer(text[:500])
            if not one["path"].startswith(_PROGRAMS)
        ]
        if found:
            return found[-1]
    return source.name if not source.name.endswith((".md", ".txt", ".log")) else ""


def find_kind(path: str, statements: Sequence[Statement]) -> str:
    """Return the kind of a file; empty where neither its name nor its words tell."""
    by_name = next((kind.name for kind in KINDS if path and kind.paths.search(path)), "")
    if by_name:
        return by_name
    words = {statement.name.lower() for statement in statements}
    words |= {
        head.split(None, 1)[0].lower()
        for statement in statements
        for head in statement.path
        if head.strip()
    }
    words |= {f"[{head.lower()}]" for statement in statements for head in statement.path}
    counts = [(len(kind.names & words), kind.name) for kind in KINDS]
    most, name = max(counts, key=lambda one: one[0])
    return name if most >= 2 else ""
