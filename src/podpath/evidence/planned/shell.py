"""A script of the shell that calls programs one after the other, as people keep their rules: words
of each call, and by its line what only a shell could tell.

What comes in are lines; what goes out are calls with the lines that they stand on. Variables,
substitutions, loops, conditions and redirections are no calls: what they come to is not known here,
so they are refused.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_EXPANDED = re.compile(r"[$`]")
_OPERATOR = re.compile(r"[;&|<>()]+")
_SINGLE = re.compile(r"'[^']*'")
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"')
_ESCAPED = re.compile(r"\\.")
_SILENT = frozenset({"set", "echo", "true", ":", "exit"})
"""What changes nothing of the node."""
_WORDS = frozenset(
    {
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
        "function", "source", ".", "eval", "export", "local", "return", "{", "}", "[", "[[", "test",
    }
)  # fmt: skip
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*")


class ShellCall(NamedTuple):
    """A program that a script calls."""

    first: int
    """The index of its first line."""
    last: int
    words: Sequence[str]
    """The program and its arguments, unquoted; none where the line changes nothing."""
    fault: str = ""
    """Why nobody can tell what it does; empty where it is a plain call."""


def read_calls(lines: Sequence[str]) -> Iterator[ShellCall]:
    """Yield the calls of a script; lines that say nothing (blank ones, comments) are left out."""
    first, text = 0, ""
    for index, line in enumerate(lines):
        if not text:
            first = index
        text += line
        if line.endswith("\\") and index + 1 < len(lines):
            text = text[:-1]
            continue
        whole, text = text.strip(), ""
        if whole and not whole.startswith("#"):
            words, fault = split_call(whole)
            yield ShellCall(first, index, words, fault)


def split_call(line: str) -> tuple[Sequence[str], str]:
    """Return the words of one call, and why it is none; no words where it changes nothing."""
    bare = _SINGLE.sub("''", _ESCAPED.sub("", line))
    found = _EXPANDED.search(bare)
    if found is not None:
        shown = bare[found.start() :].split()[0]
        return (), f"what {shown} stands for is not known: write it out"
    unquoted = _DOUBLE.sub('""', bare).partition(" #")[0]
    found = _OPERATOR.search(unquoted)
    if found is not None:
        return (), f"`{found[0]}` of the shell is not modeled: one call to a line"
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        return (), f"expected a call, saw {line[:60]!r}: {error}"
    if words and words[0] == "sudo":
        words = words[1:]
    if words and (words[0] in _WORDS or _ASSIGNED.fullmatch(words[0])):
        return (), f"`{words[0]}` of the shell is not modeled"
    return ([] if words and words[0] in _SILENT else words), ""
