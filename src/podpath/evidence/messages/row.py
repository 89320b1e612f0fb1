"""A row of the table of messages: how a line is known, and what it says.

The rows of a family are a file beside this module (`net.word_file`), its `rows` each the
kind of a message, its sign, and its pattern where the sign alone is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from podpath.net.messages import MessageKind
from podpath.net.word_file import parse_words, read_word_file


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
    return tuple(_make_rows(read_word_file("podpath.evidence.messages", f"{family}.toml")))


def parse_rows(text: str) -> tuple[MessagePattern, ...]:
    """Parse a family's file; a kind or part that does not exist is an error of ours and raises."""
    return tuple(_make_rows(parse_words(text)))


def _make_rows(table: Mapping[str, Any]) -> Iterator[MessagePattern]:
    return (make_row(MessageKind(kind), sign, *pattern) for kind, sign, *pattern in table["rows"])
