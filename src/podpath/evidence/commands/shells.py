"""A typed command line as a shell cuts it: simple commands, the operators between them, and
redirections.

Only what tells which program printed an output is read: words with their columns, pipes, sequences
and where output goes to. Expansions are left as they stand. Past this layer
`evidence.commands.typed` looks through `sudo`, `nsenter` and their like.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.evidence.text.tokenizer import scan_quoted

_TOKEN = re.compile(
    r"""(?P<space>[ \t]+)
      | (?P<comment>(?<![^\s;|&(])\#.*)
      | (?P<placeholder><[A-Za-z][\w .:/-]*>)
      | (?P<redirect>&>>?|\d?(?:<<<|<<-?|>>|>\||[<>])&?)
      | (?P<operator>\|\||&&|\|&|[|;&\n()])
      | (?P<word>(?: "(?:[^"\\]|\\.)*+(?:"|\\?$) | '[^']*+(?:'|$)
            | \$\((?:[^()]|\([^()]*\))*+(?:\)|$) | `[^`]*+(?:`|$)
            | \\. | [^\s"'\\;|&<>()`$]++ | \$ | \\$ | [0-9]+(?=[<>]) )++)""",
    re.VERBOSE | re.DOTALL,
)


class ShellWord(NamedTuple):
    """A word of a command line."""

    text: str
    """Without its quotes."""
    start: int
    end: int


class Redirect(NamedTuple):
    """Where a command's output goes to or its input comes from."""

    operator: str
    target: str


class SimpleCommand(NamedTuple):
    """One program with its arguments."""

    words: tuple[ShellWord, ...]
    operator: str
    """What stands before it: empty for the first, `|`, `&&`, `||`, `;`, `&`."""
    redirects: tuple[Redirect, ...] = ()

    @property
    def program(self) -> str:
        """The program's name without a directory; empty where there are no words."""
        return base_name(self.words[0].text) if self.words else ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the program's name."""
        return tuple(word.text for word in self.words[1:])


def parse_shell(text: str) -> tuple[SimpleCommand, ...]:
    """Cut a command line into its simple commands, the empty ones left out."""
    commands: list[SimpleCommand] = []
    words: list[ShellWord] = []
    redirects: list[Redirect] = []
    operator, pending = "", ""

    def close(following: str) -> None:
        nonlocal operator
        if words or redirects:
            commands.append(SimpleCommand(tuple(words), operator, tuple(redirects)))
            words.clear()
            redirects.clear()
        operator = following if commands else ""

    for token in _TOKEN.finditer(text):
        kind, raw = token.lastgroup, token[0]
        if kind == "redirect":
            pending = raw
        elif kind == "operator":
            close({"|&": "|", "\n": ";", "(": operator, ")": operator}.get(raw, raw))
        elif kind in {"word", "placeholder"} and pending:
            redirects.append(Redirect(pending, _unquote(raw)))
            pending = ""
        elif kind in {"word", "placeholder"}:
            words.append(ShellWord(_unquote(raw), token.start(), token.end()))
    close("")
    return tuple(commands)


def base_name(program: str) -> str:
    """Return a program's name without its directory."""
    return program.rstrip("/").rpartition("/")[2] or program


def _unquote(raw: str) -> str:
    if not any(sign in raw for sign in "\"'\\"):
        return raw
    return " ".join(word.text for word in scan_quoted(raw))
