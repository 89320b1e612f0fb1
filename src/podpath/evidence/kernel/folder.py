"""Reads what `ls` lists of a folder, and a bare number whose command says which lines it counts of
such a list or of another program's: `ls /var/lib/cni/networks/cbr0 | wc -l`, `crictl pods -q | wc
-l`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.evidence.commands.shells import SimpleCommand
from podpath.evidence.commands.typed import TypedCommand, parse_typed
from podpath.evidence.formats import CERTAIN, NO, Format
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.tokenizer import is_ellipsis
from podpath.net.provenance import Source
from podpath.net.statements import FolderListing, LineCount

_LISTS = frozenset({"ls", "find", "crictl", "kubectl", "docker", "podman", "nerdctl"})
"""Programs of which people count lines, and that print one for each thing."""
_NUMBER = re.compile(r"\s*(?P<number>\d{1,9})\s*$")
_TOTAL = re.compile(r"total \d+(?:\.\d+)?[KMG]?\s*$")
_LONG = re.compile(
    r"[-dlspcb][-rwxsStT]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+\d\S*\s+\w+\s+\w+\s+[\d:]+\s+(?P<name>\S.*)$"
)
_NAME = re.compile(r"\S+")
_PLAIN = re.compile(r"[\w.:@+~-][\w.:@+~ -]*$")
_HIDES = re.compile(r"--(?:ignore|hide)\b|-[a-zA-Z]*[BI]")
"""Options with which it leaves names out."""
_AWAY = frozenset({"R", "d"})
"""Options with which it lists other folders, too, or the folder itself."""


def recognise(source: Source) -> int:
    """Recognize a list or a lone number by its command."""
    typed = parse_typed(source.command or "")
    lines = [line for line in source.lines if line.strip()]
    if typed.program not in _LISTS or not lines:
        return NO
    if _is_counted(typed):
        return CERTAIN if len(lines) == 1 and _NUMBER.match(lines[0]) else NO
    return CERTAIN if _find_folder(typed) and all(map(_is_entry, lines)) else NO


def _is_entry(line: str) -> bool:
    return any(form.match(line) is not None for form in (_LONG, _TOTAL, _PLAIN))


def read(source: Source) -> Reading:
    """Read the names, or the number."""
    ledger = Ledger(source)
    typed = parse_typed(source.command or "")
    if _is_counted(typed):
        _read_number(ledger, typed)
        return ledger.close("a number")
    names: list[str] = []
    places: list[int] = []
    for index, line in enumerate(source.lines):
        if not line.strip():
            continue
        ledger.head(index)
        if is_ellipsis(line):
            continue
        found = list(_list_names(line))
        if found:
            names += found
            places.append(index)
    if places:
        listing = FolderListing(_find_folder(typed), tuple(names), _is_whole(source, typed))
        ledger.add(StatementRecord(span=ledger.span(places[0], places[-1]), statement=listing))
    return ledger.close("the name of a file")


def _is_whole(source: Source, typed: TypedCommand) -> bool:
    """Tell whether all names are there: neither an option nor what stands behind ls leaves some
    out, nor does who pasted them.
    """
    hides = any(_HIDES.match(word) for one in typed.commands[:1] for word in one.arguments)
    cut = source.open_end or any(map(is_ellipsis, source.lines))
    return len(typed.commands) == 1 and not hides and not cut


def _read_number(ledger: Ledger, typed: TypedCommand) -> None:
    listing, *filters = typed.commands
    picked = [word for one in filters for word in one.arguments if not word.startswith("-")]
    for index, line in enumerate(ledger.source.lines):
        found = _NUMBER.match(line)
        if found is not None:
            counted = LineCount(
                listing.program, listing.arguments, " ".join(picked), int(found["number"])
            )
            ledger.add(StatementRecord(span=ledger.span(index), statement=counted))


def _list_names(line: str) -> Iterator[str]:
    long = _LONG.match(line)
    if long is not None:
        yield from () if long["name"] in {".", ".."} else (long["name"].partition(" -> ")[0],)
    elif _TOTAL.match(line) is None:
        yield from _NAME.findall(line)


def _find_folder(typed: TypedCommand) -> str:
    """Return the one folder that ls lists, without a slash at its end; empty where it lists others
    or none that is named from the root.
    """
    if not typed.commands or not _is_one_pipeline(typed):
        return ""
    listing = typed.commands[0]
    options = {letter for word in listing.arguments if word[:1] == "-" for letter in word[1:]}
    paths = [word for word in listing.arguments if not word.startswith("-")]
    single = len(paths) == 1 and paths[0].startswith("/") and "*" not in paths[0]
    named = listing.program == "ls" and single and not options & _AWAY
    return paths[0].rstrip("/") if named else ""


def _is_counted(typed: TypedCommand) -> bool:
    return _is_one_pipeline(typed) and any(map(_counts, typed.commands[1:][-1:]))


def _is_one_pipeline(typed: TypedCommand) -> bool:
    """Tell whether all that is printed went through the same filters."""
    return all(one.operator == "|" for one in typed.commands[1:])


def _counts(command: SimpleCommand) -> bool:
    """Tell whether a filter prints how many lines it got, or found."""
    options = [word for word in command.arguments if word.startswith("-")]
    if command.program == "wc":
        return options in (["-l"], ["--lines"])
    short = any("c" in word for word in options if not word.startswith("--"))
    return command.program in {"grep", "egrep"} and (short or "--count" in options)


FORMAT = Format("ls", recognise, read)
