"""A command as somebody typed it: what it really runs, in which network namespace, and what is left
of its output.

`sudo nsenter --net=/proc/29080/ns/net curl x | tail` runs `curl x | tail` in the namespace of
process 29080, and shows a part of what curl printed. Wrappers are data: one row for each program
that runs another one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.evidence.commands.shells import SimpleCommand, base_name, parse_shell
from podpath.evidence.commands.wrappers import WRAPPERS
from podpath.evidence.commands.wrappers_words import WrappedCommand


class TypedCommand(NamedTuple):
    """A command line, looked through to the program that prints."""

    raw: str
    """As typed, wrapped lines joined."""
    text: str
    """From the program that prints on, its pipes and redirections included; empty where only a
    shell is opened.
    """
    netns: str | None
    """The network namespace it runs in: `pid 29080`, the name of a namespace, `pod/NS/NAME`,
    `container NAME`; None: not said.
    """
    commands: tuple[SimpleCommand, ...]
    """The simple commands of `text`."""
    wrapped: bool = False
    """True where it enters another place, be it the host's (`nsenter -t 1 -n`), whatever shell it
    is typed in.
    """
    keeps_prompt: bool = False
    """True for a shell opened by nsenter or `ip netns exec`: its prompt is the host's."""

    @property
    def opens_shell(self) -> bool:
        """Tell whether it opens an interactive shell in another place."""
        return self.wrapped and not self.text

    @property
    def program(self) -> str:
        """The program that prints; empty where there is none."""
        return self.commands[0].program if self.commands else ""


_DULL = frozenset(
    {
        "cd",
        "date",
        "sleep",
        "export",
        "set",
        "true",
        "clear",
        "source",
        "pushd",
        "popd",
        "wait",
        "done",
        "alias",
    }
)
"""Commands before a `;` or `&&` that print nothing to be read."""
_KEYWORDS = frozenset({"do", "then", "while", "until", "if", "!", "{", "else", "time", "("})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


def parse_typed(raw: str) -> TypedCommand:
    """Look a command line through to the program that prints. Never raises."""
    text = raw.strip()
    netns: str | None = None
    wrapped = keeps_prompt = False
    for _ in range(
        16
    ):  # a wrapper in a wrapper in a wrapper is real (sudo nsenter sh -c); a longer row is not
        commands = parse_shell(text)
        if not commands:
            return TypedCommand(raw, "", netns, (), wrapped, keeps_prompt)
        inner = _unwrap(commands)
        if inner is None:
            return TypedCommand(raw, _trim(text, commands), netns, commands, wrapped, keeps_prompt)
        if inner.enters:
            netns, wrapped, keeps_prompt = inner.netns, True, inner.keeps_prompt
        text = _inner_text(text, commands, inner)
    return TypedCommand(raw, text, netns, parse_shell(text), wrapped, keeps_prompt)


def _trim(text: str, commands: tuple[SimpleCommand, ...]) -> str:
    """Leave out a comment at the end and what surrounds the words."""
    first = commands[0].words[0].start if commands[0].words else 0
    return re.sub(r"\s+#\s.*$", "", text[first:]).strip()


def _inner_text(text: str, commands: tuple[SimpleCommand, ...], inner: WrappedCommand) -> str:
    words = commands[0].words
    if inner.text is not None:
        return (
            f"{inner.text} {text[words[inner.place].end :].lstrip()}"
            if inner.place < len(words)
            else inner.text
        )
    if inner.place < len(words):
        return text[words[inner.place].start :]
    if (
        len(commands) > 1
        and commands[1].operator in {"&&", ";"}
        and not inner.enters
        and commands[1].words
    ):
        return text[commands[1].words[0].start :]
    return ""


def _unwrap(commands: tuple[SimpleCommand, ...]) -> WrappedCommand | None:
    """Take one wrapper off; None where the first word is the program that prints."""
    words = commands[0].words
    if not words:
        return None
    first = words[0].text
    if _ASSIGNMENT.fullmatch(first) or (first in _KEYWORDS and len(words) > 1 and first != "time"):
        return WrappedCommand(1)
    if first in {"for", "case"} or (
        base_name(first) in _DULL and len(commands) > 1 and commands[1].operator in {"&&", ";"}
    ):
        return WrappedCommand(len(words))
    wrapper = WRAPPERS.get(base_name(first))
    return None if wrapper is None else wrapper(words)
