"""A row of the table of messages: how a line is known, and what it says.

The rows of a family are a file beside this module: `parts`, pieces of patterns by their names, and
`rows`, each the kind of a message, its sign, and its pattern where the sign alone is not enough.
`%{NAME}` in a pattern is the part of that name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from podpath.net.messages import MessageKind

_PART = re.compile(r"%\{(\w+)\}")


class MessagePattern(NamedTuple):
    """One way in which a kind of message is spelled."""

    kind: MessageKind
    sign: str
    """Words that every such line holds, as they stand there: a text without them has none, which is
    seen at once.
    """
    expression: str
    """A regular expression; its named groups are the message's values."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """What is found in the line, compiled when the first text has the sign."""
        return _compile(self.expression)


@cache
def _compile(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def make_row(kind: MessageKind, sign: str, pattern: str = "") -> MessagePattern:
    """Return the row of a sign; the pattern, where one is given, has to be found in the line
    too.
    """
    return MessagePattern(kind, sign, pattern or re.escape(sign))


def read_rows(family: str) -> tuple[MessagePattern, ...]:
    """Read the rows of a family of programs from its file."""
    file = resources.files("podpath.evidence.messages").joinpath(f"{family}.toml")
    return parse_rows(file.read_text(encoding="utf-8"))


def parse_rows(text: str) -> tuple[MessagePattern, ...]:
    """Parse a family's file; a kind or part that does not exist is an error of ours and raises."""
    table = tomllib.loads(text)
    parts: dict[str, str] = {}
    for name, part in table.get("parts", {}).items():
        parts[name] = _put_parts(part, parts)
    rows: list[MessagePattern] = []
    for kind, sign, *patterns in table["rows"]:
        filled = [_put_parts(pattern, parts) for pattern in patterns]
        rows.append(make_row(MessageKind(kind), sign, *filled))
    return tuple(rows)


def _put_parts(pattern: str, parts: Mapping[str, str]) -> str:
    return _PART.sub(lambda found: parts[found[1]], pattern)
