"""The one tokenizer of all text formats: lines to words that know their columns, and a cursor over
them.

Console output is made of words between white space, some of them quoted. Readers take the words of
a line one by one from a `Cursor`, so that a line that ends early, or in garbage, leaves what was
read and says what was not. Column tables (`route -n`, `brctl show`) are read by the columns of
their heading. Everything here is linear in the length of the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from podpath.net.provenance import Source

T = TypeVar("T")

_WORD = re.compile(r"\S+")
_QUOTED = re.compile(
    r"""(?: "(?:[^"\\]|\\.)*+(?:"|\\?$)   # a double-quoted part; unclosed, it takes the rest
          | '[^']*+(?:'|$)                # a single-quoted part, as a shell has it
          | \\.                           # an escaped character
          | [^\s"'\\]++ | \\$
        )++""",
    re.VERBOSE,
)
_PART = re.compile(r"""\"((?:[^"\\]|\\.)*+)(?:"|\\?$)|'([^']*+)(?:'|$)|\\(.)|([^"'\\]++)|\\$""")
_ESCAPE = re.compile(r"\\(.)")
_TERMINAL = re.compile(
    r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|"
    r"[\x00-\x08\x0b-\x1f\x7f]"
)
_TALK = re.compile(
    r"\s*(?:\[sudo\] password for \S+:?|(?:\S+@\S+'s )?[Pp]assword:|\^[A-Z]|"
    r"Defaulted container .*|Defaulting container name .*|Use 'kubectl describe .*|"
    r"If you don't see a command prompt, try pressing enter\.?|"
    r"Unable to use a TTY - .*|kubectl exec \[POD\] \[COMMAND\] is DEPRECATED.*|"
    r"Warning: Permanently added .* to the list of known hosts\.?)\s*"
)
_ELLIPSIS = re.compile(
    r"\s*(?:[-#/*<>(\[{]*\s*)?(?:\.{2,}|…|--|~{3,}|[<(\[]\s*(?:snip|snipped|cut|omitted|truncated|"
    r"output omitted)\s*[>)\]])(?:\s*[-*/>)\]}]*)?\s*",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """A word of a line, without its quotes."""

    text: str
    start: int
    """Column of its first character (its quote, where it is quoted), from 0."""
    end: int
    """Column after its last character."""
    quoted: bool = False
    """True where some part of it was quoted or escaped."""


class Column(NamedTuple):
    """A column of a table: its title, where the title starts, and where the next one does."""

    title: str
    start: int
    end: int


def scan_words(line: str) -> list[Word]:
    """Return the words between white space; quotes are ordinary characters, as they are to
    iproute2.
    """
    return [Word(found[0], found.start(), found.end()) for found in _WORD.finditer(line)]


def scan_quoted(line: str) -> list[Word]:
    r"""Return the words as a shell does: "..." and '...' join, a backslash escapes, and a quote
    left open takes the rest.
    """
    return [_unquote(found) for found in _QUOTED.finditer(line)]


def _unquote(found: re.Match[str]) -> Word:
    raw = found[0]
    if not ('"' in raw or "'" in raw or "\\" in raw):
        return Word(raw, found.start(), found.end())
    parts = [
        _ESCAPE.sub(r"\1", part[1]) if part[1] is not None else part[2] or part[3] or part[4] or ""
        for part in _PART.finditer(raw)
    ]
    return Word("".join(parts), found.start(), found.end(), True)


def strip_terminal(line: str) -> str:
    """Take colors, other terminal sequences and control characters out of a line; a line without
    any is given back as it is.
    """
    return (
        line
        if line.isprintable() or (line.isascii() and line.replace("\t", "").isprintable())
        else _TERMINAL.sub("", line)
    )


def plain_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield a source's lines with their places, as they read without colors."""
    yield from enumerate(map(strip_terminal, source.lines))


def is_ellipsis(line: str) -> bool:
    """Tell whether a line only says that others were left out: `...`, `--` of a grep, `[snip]`, `#
    ...`.
    """
    return len(line) <= 200 and _ELLIPSIS.fullmatch(line) is not None


def is_terminal_talk(line: str) -> bool:
    """Tell whether a line is no program's output but what stands before it: a question for a
    password, an interruption, a note of kubectl's on the container it chose.
    """
    return len(line) <= 400 and _TALK.fullmatch(line) is not None


def parse_columns(heading: str, gap: int = 2) -> list[Column]:
    """Return the columns of a table's heading: titles stand `gap` or more blanks (or a tab)
    apart.
    """
    titles = [
        (found[0], found.start())
        for found in re.finditer(rf"\S+(?:[ ]{{1,{gap - 1}}}\S+)*" if gap > 1 else r"\S+", heading)
    ]
    ends = [start for _, start in titles[1:]] + [1 << 30]
    return [Column(title, start, end) for (title, start), end in zip(titles, ends, strict=True)]


class Cursor:
    """A cursor over the words of a line: past the end it gives empty words for ever, so that
    reading always ends.
    """

    __slots__ = ("line", "place", "words")

    def __init__(self, line: str, *, quotes: bool = False) -> None:
        """Scan the line; with `quotes` as a shell does."""
        self.line = line
        self.words = scan_quoted(line) if quotes else scan_words(line)
        self.place = 0

    def __iter__(self) -> Iterator[str]:
        """Take the words one by one; the loop's body may take further ones."""
        while self.place < len(self.words):
            yield self.take()

    @property
    def done(self) -> bool:
        """Tell whether all words were taken."""
        return self.place >= len(self.words)

    @property
    def peek(self) -> str:
        """The next word; empty at the end."""
        return self.words[self.place].text if self.place < len(self.words) else ""

    @property
    def rest(self) -> str:
        """The line from the next word on; empty at the end."""
        return (
            self.line[self.words[self.place].start :].rstrip()
            if self.place < len(self.words)
            else ""
        )

    def take(self) -> str:
        """Take the next word; empty at the end."""
        if self.place >= len(self.words):
            return ""
        self.place += 1
        return self.words[self.place - 1].text

    def accept(self, *texts: str) -> bool:
        """Take the next words if they are exactly these."""
        ahead = self.words[self.place : self.place + len(texts)]
        if len(ahead) < len(texts) or any(
            word.text != text for word, text in zip(ahead, texts, strict=True)
        ):
            return False
        self.place += len(texts)
        return True

    def attempt(self, parse: Callable[[str], T]) -> T | None:
        """Take the next word if `parse` reads it; where it raises `ValueError`, give None and leave
        the word.
        """
        if self.done:
            return None
        try:
            value = parse(self.words[self.place].text)
        except ValueError:
            return None
        self.place += 1
        return value
