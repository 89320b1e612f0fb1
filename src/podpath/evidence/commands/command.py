"""The command that printed a source, as readers ask about it: program, arguments, filters and
family.

What was asked for often decides what an output means: `ip route show table 100` does not print the
table, `cat FILE` does not print the name, `lsmod | grep X` shows only a part.
`evidence.commands.typed` looks through `sudo`, `nsenter` and their like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from podpath.evidence.commands.typed import parse_typed
from podpath.net.addresses import Family
from podpath.net.provenance import Source

_OBJECTS: Mapping[str, tuple[str, ...]] = {
    "address": ("a", "ad", "add", "addr", "addre", "addres", "address"),
    "link": ("l", "li", "lin", "link"),
    "route": ("r", "ro", "rou", "rout", "route"),
    "rule": ("ru", "rul", "rule"),
    "neigh": ("n", "ne", "nei", "neig", "neigh", "neighbor", "neighbour"),
    "fdb": ("f", "fd", "fdb"),
    "vlan": ("v", "vl", "vla", "vlan"),
}
"""Objects of ip(8) and bridge(8) with the abbreviations that they take."""
_SHOW = frozenset({"s", "sh", "sho", "show", "l", "li", "lis", "list", "ls", "lst"})
_BRACES = re.compile(r"\{([^{},]*(?:,[^{},]*)+)\}")
_MOST_WORDS = 500
"""Words that one with braces stands for, at most."""
_VALUED = frozenset({"-f", "-family", "-rc", "-rcvbuf", "-l", "-loops"})
_FAMILY_FILE = re.compile(r"ip(?P<six>6?)-(?:route|rule|neigh)\.json")


class Command(NamedTuple):
    """The command at the start of a pipeline."""

    program: str = ""
    """Its name without a directory; empty where there is no command."""
    arguments: tuple[str, ...] = ()
    filters: tuple[tuple[str, ...], ...] = ()
    """The programs that its output was piped through, each with its arguments: what is shown may be
    a part.
    """
    netns: str | None = None
    """The network namespace that a wrapper enters, as `Typed.netns` names it."""

    def option(self, *names: str) -> str | None:
        """Return the argument that follows one of these words (`dev`, `table`); None where there is
        none.
        """
        return next((value for name, value in pairwise(self.arguments) if name in names), None)


@lru_cache(maxsize=64)  # every recognizer asks it of the same source
def parse_command(text: str | None) -> Command:
    """Read a command line; an empty `Command` where there is none. What comes after `;` or `&&` is
    left out.
    """
    if not text:
        return Command()
    typed = parse_typed(text)
    if not typed.commands:
        return Command(netns=typed.netns)
    first, *rest = typed.commands
    filters = []
    for step in rest:
        if step.operator != "|":
            break
        filters.append((step.program, *step.arguments))
    return Command(first.program, first.arguments, tuple(filters), typed.netns)


def parse_family(source: Source) -> Family | None:
    """Say which family a source's command (`ip -6 route`) or name (`ip6-route.json`) asks for; None
    where neither does.
    """
    command = parse_command(source.command)
    if command.program.startswith("ip6") or any(
        word in {"-6", "inet6", "--inet6", "-A6"} for word in command.arguments
    ):
        return 6
    if any(word in {"-4", "inet", "--inet"} for word in command.arguments):
        return 4
    named = _FAMILY_FILE.fullmatch(source.name.rpartition("/")[2])
    if named is None:
        return None
    return 6 if named["six"] else 4


def asked_object(command: Command) -> tuple[str, tuple[str, ...]] | None:
    """Return the object of an `ip` or `bridge` command and its selectors behind `show`; None for
    another command.
    """
    if command.program not in {"ip", "bridge"}:
        return None
    words = list(command.arguments)
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in _VALUED else 1 :]
    found = next(
        (name for name, spellings in _OBJECTS.items() if words and words[0] in spellings), None
    )
    if found is None:
        return None
    return found, tuple(words[2:] if len(words) > 1 and words[1] in _SHOW else words[1:])


def expand_braces(word: str) -> Iterator[str]:
    """Expand braces as a shell does: `conf/{all,default}/rp_filter`."""
    pending, done = [word], 0
    while pending and done < _MOST_WORDS:
        done += 1
        text = pending.pop(0)
        found = _BRACES.search(text)
        if found is None:
            yield text
        else:
            pending[:0] = [
                text[: found.start()] + part + text[found.end() :]
                for part in re.findall(r"[^,]*(?=,|$)", found[1])
                if part
            ]
