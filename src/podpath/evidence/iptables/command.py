"""What an iptables command asked for: which family, flavor, table and chain, and whether a filter
cut its output.

`iptables -nvL CHAIN` does not print its table, `iptables -S | grep DROP` not what it left out: only
the command line says so. Where no prompt shows the command, a bundle's file name may
(`ip6tables-legacy-save.txt`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.evidence.commands.command import parse_command
from podpath.net.addresses import Family
from podpath.net.provenance import Source
from podpath.xtables.legality import BASE_CHAINS

_PROGRAM = re.compile(r"(?P<six>ip6|ip)tables(?:-(?P<flavour>legacy|nft))?(?P<save>-save)?")
_FILE_NAME = re.compile(r"(?:.*[/._-])?(?P<program>ip6?tables(?:-(?:legacy|nft))?-save)\b.*")
_HARMLESS = frozenset({"cat", "less", "more", "tee", "nl", "most", "bat", "ccze"})
"""Programs that a listing passes through whole and in order."""
LISTING_ACTIONS = frozenset({"L", "S"})
"""Letters of what only shows rules."""
_SHORT = re.compile(r"-(?P<letters>[A-Za-z]+)")
_CHAIN_OPTIONS = {
    "list": "L",
    "list-rules": "S",
    "table": "t",
    "verbose": "v",
    "numeric": "n",
    "exact": "x",
    "line-numbers": "",
}


class IptablesCommand(NamedTuple):
    """What was asked for, as far as a command or a file name says."""

    program: str = ""
    """Empty where the evidence shows no iptables command."""
    family: Family | None = None
    flavour: str | None = None
    """`legacy` or `nft` where the program's name says it."""
    action: str = ""
    """`save`, `L`, `S`; empty where there is none."""
    table: str | None = None
    """As given with `-t`."""
    chain: str | None = None
    number: int | None = None
    """The one rule asked for."""
    verbose: bool = False
    numeric: bool = False
    filtered: bool = False
    """True where its output went through a program that leaves lines out or moves them."""

    @property
    def shown_table(self) -> str | None:
        """The one table that the command prints: iptables takes `filter` where it is told none;
        None for all of them.
        """
        if self.action in LISTING_ACTIONS:
            return self.table or "filter"
        return self.table


def parse_iptables_command(source: Source) -> IptablesCommand:
    """Say what a source's command asked for; an empty answer where the source has none."""
    command = parse_command(source.command)
    found = _PROGRAM.fullmatch(command.program)
    if found is None:
        named = _FILE_NAME.fullmatch(source.name.rpartition("/")[2])
        found = (
            None
            if named is None or command.program not in {"", "cat", "less", "more"}
            else _PROGRAM.fullmatch(named["program"])
        )
        if found is None:
            return IptablesCommand()
        return _name_program(
            found, found[0], {"action": "save"}, filtered=_is_filtered(command.filters)
        )
    return _name_program(
        found,
        command.program,
        _parse_arguments(command.arguments),
        filtered=_is_filtered(command.filters),
    )


def _name_program(
    found: re.Match[str], program: str, asked: dict[str, str], *, filtered: bool
) -> IptablesCommand:
    number = asked.get("number", "")
    return IptablesCommand(
        program=program,
        family=6 if found["six"] == "ip6" else 4,
        flavour=found["flavour"],
        action="save" if found["save"] else asked.get("action", ""),
        table=asked.get("table"),
        chain=asked.get("chain"),
        number=int(number) if re.fullmatch(r"[0-9]{1,9}", number) else None,
        verbose="verbose" in asked,
        numeric="numeric" in asked,
        filtered=filtered,
    )


def _is_filtered(filters: tuple[tuple[str, ...], ...]) -> bool:
    return any(words[0].rpartition("/")[2] not in _HARMLESS for words in filters)


def _parse_arguments(arguments: tuple[str, ...]) -> dict[str, str]:
    """Read the options by name; short ones may stand together (`-nvL`)."""
    asked: dict[str, str] = {}
    words = list(arguments)
    while words:
        word = words.pop(0)
        for letter, value in _spell_short(word):
            if letter in LISTING_ACTIONS:
                asked["action"] = letter
                if words and not words[0].startswith("-"):
                    asked["chain"] = words.pop(0)
                if words and re.fullmatch(r"[0-9]{1,9}", words[0]):
                    asked["number"] = words.pop(0)
            elif letter == "t":
                table = value or (words.pop(0) if words else "")
                if table in BASE_CHAINS:
                    asked["table"] = table
            elif letter == "v":
                asked["verbose"] = ""
            elif letter == "n":
                asked["numeric"] = ""
            elif letter in "MwW" and words and words[0][:1].isdigit():
                words.pop(0)
    return asked


def _spell_short(word: str) -> list[tuple[str, str]]:
    """Return the short options of a word, the last with the value that is glued to it (`-tnat`)."""
    if word.startswith("--"):
        name, _, value = word[2:].partition("=")
        letter = _CHAIN_OPTIONS.get(name, "")
        return [(letter, value)] if letter else []
    found = _SHORT.fullmatch(word)
    if found is None:
        return []
    letters: list[tuple[str, str]] = []
    for place, letter in enumerate(found["letters"]):
        rest = found["letters"][place + 1 :]
        if letter == "t":
            return [*letters, (letter, rest)]
        letters.append((letter, ""))
    return letters
