"""The statements of a configuration, whatever its language: `KEY=VALUE`, `key: value`, `key
value;`, blocks in braces, sections.

Most languages of configuration are one of a few: words ended by a semicolon or a line, blocks in
braces or by indentation, sections in brackets. They are told apart by what the lines show. Lines
are read one by one, in time linear in them; what is not a statement is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

DEEPEST = 12
"""Blocks within blocks that are kept."""
_SECTION = re.compile(
    r"\s*\[{1,2}\s*(?P<name>[^\[\]=]+?(?:\"[^\"]*\"[^\[\]=]*)?)\s*\]{1,2}\s*(?:[#;].*)?$"
)
_ASSIGNED = re.compile(
    r"\s*(?:export\s+|set\s+|Environment=\"?)?(?P<name>[\w./@*-]+(?:\[\w+\])?)\s*[:+?]?=\s*"
    r"(?P<value>.*?)\s*$"
)
_COLON = re.compile(r"\s*(?:- )?(?P<name>[A-Za-z_][\w./-]*):(?:\s+(?P<value>\S.*?))?\s*$")
MEMBER = re.compile(r"\s*(?P<name>\"[\w./-]+\")\s*:\s*(?P<value>\"[^\"]*\"|[\w.+-]+)\s*,?\s*$")
"""A line of a JSON text of which grep prints no more."""
_WORDS = re.compile(r"\s*(?P<name>[\w*./@:-]+|\"[^\"]*\"|'[^']*')(?:\s+(?P<value>\S.*?))?\s*$")
_ROW = re.compile(r"\s*\|\s*(?P<name>[\w.:-]+)\s*\|\s*(?P<value>[^|]*?)\s*\|\s*$")
"""A row of the tables of two columns that clients of clouds print."""
_COMMENT = re.compile(r"\s*(?:[#;!]|//|--\s|REM\b)|\s*$")
_TRAILING = re.compile(r"\s(?:#|//\s).*$")
_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|[{};]|[^\s{};\"']+|[\"']")
_STANZA = re.compile(
    r"\s*(?:iface|frontend|backend|listen|defaults|global|router|vrrp_instance|Host|Match|"
    r"interface|peers|resolvers)(?:\s+\S|\s*$)"
)
_LOOSE = re.compile(r"\s*(?:auto|allow-\w+|source|source-directory|mapping|no-auto-down)\s")


class Statement(NamedTuple):
    """One statement, with the places (from 0) of its first and last line."""

    path: tuple[str, ...]
    name: str
    value: str
    first: int
    last: int


@dataclass(slots=True)
class _StatementReader:
    found: list[Statement] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    first: int = 0

    def end(self, place: int) -> None:
        """End the statement that is being read."""
        if self.words:
            name, *rest = self.words
            head, sign, value = name.partition("=")
            if sign and head and not rest:
                name, rest = head, [value] if value else []
            elif rest and rest[0] == "=":
                rest = rest[1:]
            self.found.append(
                Statement(
                    tuple(self.path), unquote(name.rstrip(":")), _join(rest), self.first, place
                )
            )
        self.words = []

    def open(self) -> None:
        """Open a block whose head are the words so far."""
        if len(self.path) < DEEPEST:
            self.path.append(_join(self.words))
        self.words = []

    def close(self, place: int) -> None:
        """Close the innermost block."""
        self.end(place)
        if self.path:
            self.path.pop()


def read_statements(lines: Sequence[str]) -> list[Statement]:
    """Return the statements of a text, in their order. Never raises."""
    plain = [line for line in lines if not _COMMENT.match(line)]
    braces = sum(line.rstrip().endswith("{") or line.strip() in {"}", "};"} for line in plain)
    ended = sum(line.rstrip().endswith(";") for line in plain)
    if braces and not any(_SECTION.match(line) for line in plain):
        return _read_braces(lines, ended=ended > 0)
    if ended and 2 * ended >= len(plain):
        return _read_braces(lines, ended=True)
    return list(_read_lines(lines))


def _read_braces(lines: Sequence[str], *, ended: bool) -> list[Statement]:
    """Read blocks in braces; statements end at a semicolon where the text has any, else with the
    line.
    """
    reader = _StatementReader()
    inside = False
    for place, raw in enumerate(lines):
        line, inside = _strip_comment(raw, inside=inside)
        for mark in _TOKEN.findall(line):
            if mark == "{":
                reader.open()
            elif mark == "}":
                reader.close(place)
            elif mark == ";":
                reader.end(place)
            else:
                if not reader.words:
                    reader.first = place
                reader.words.append(mark)
        if not ended:
            reader.end(place)
    reader.end(len(lines) - 1)
    return reader.found


def _strip_comment(raw: str, *, inside: bool) -> tuple[str, bool]:
    """Return a line without its comment, and whether a comment of `/* */` is open after it."""
    line = raw
    if inside:
        _, sign, line = line.partition("*/")
        if not sign:
            return "", True
    if "/*" in line:
        head, _, rest = line.partition("/*")
        _, sign, tail = rest.partition("*/")
        return f"{head} {tail}", not sign
    return ("" if _COMMENT.match(line) else _TRAILING.sub("", line)), False


def _read_lines(lines: Sequence[str]) -> Iterator[Statement]:
    """Read one statement a line, under sections in brackets, stanzas or deeper indentation."""
    section: tuple[str, ...] = ()
    above: list[tuple[int, str]] = []
    place = 0
    while place < len(lines):
        first, line = place, lines[place]
        while line.rstrip().endswith("\\") and place + 1 < len(lines):
            place += 1
            line = f"{line.rstrip()[:-1].rstrip()} {lines[place].strip()}"
        last, place = place, place + 1
        if _COMMENT.match(line):
            continue
        head = _SECTION.match(line)
        if head is not None:
            section, above = (head["name"].strip(),), []
            continue
        text = _TRAILING.sub("", line).expandtabs(4).rstrip()
        indent = len(text) - len(text.lstrip())
        above = _enclose(above, indent, text)
        forms = (_ROW, MEMBER, _ASSIGNED, _COLON, _WORDS)
        found = next(filter(None, (form.match(text) for form in forms)), None)
        if found is None:
            continue
        path = (*section, *(name for _, name in above))[:DEEPEST]
        yield Statement(path, unquote(found["name"]), unquote(found["value"] or ""), first, last)
        above.append(
            (-1 if _STANZA.match(text) and indent == 0 else indent, text.strip().rstrip(":"))
        )


def _enclose(above: list[tuple[int, str]], indent: int, text: str) -> list[tuple[int, str]]:
    """Return the heads that a line stands under: what is indented less, and the stanza that goes on
    without indentation.
    """
    starts = indent == 0 and (_STANZA.match(text) is not None or _LOOSE.match(text) is not None)
    return [] if starts else [one for one in above if one[0] < indent]


def _join(words: Sequence[str]) -> str:
    return unquote(words[0]) if len(words) == 1 else " ".join(words)


def unquote(text: str) -> str:
    """Return a value without the quotation marks that hold all of it."""
    plain = text.strip()
    whole = len(plain) > 1 and plain[0] in "\"'" and plain.find(plain[0], 1) == len(plain) - 1
    return plain[1:-1] if whole else plain
