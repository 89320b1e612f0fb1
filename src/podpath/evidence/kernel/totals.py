"""Reads a bare number whose command says which lines it counts: `wc -l /proc/net/nf_conntrack`,
`conntrack -L | wc -l`, `ip neigh | wc -l`.
"""

from __future__ import annotations

import re

from podpath.evidence.commands.command import Command, parse_command
from podpath.evidence.formats import CERTAIN, NO, Format
from podpath.evidence.node_records import SysctlRecord
from podpath.evidence.records import Reading, Record, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.net.provenance import Source, Span
from podpath.net.statements import NeighbourCount

TRACKED = "net.netfilter.nf_conntrack_count"
_NUMBER = re.compile(r"\s*+(?P<number>\d{1,9})(?:\s++/proc/net/(?:nf|ip)_conntrack)?\s*$")
_TABLES = frozenset({"/proc/net/nf_conntrack", "/proc/net/ip_conntrack"})
_NARROWING = frozenset({"dev", "to", "nud", "vrf", "proxy"})
"""Words of `ip neigh` behind which it lists a part."""


def recognise(source: Source) -> int:
    """Recognize a lone number by what its command counts."""
    lines = [line for line in source.lines if line.strip()]
    if len(lines) != 1 or _NUMBER.match(lines[0]) is None:
        return NO
    command = parse_command(source.command)
    return CERTAIN if _counts_connections(command) or _counts_neighbours(command) else NO


def read(source: Source) -> Reading:
    """Read the number."""
    ledger = Ledger(source)
    command = parse_command(source.command)
    for index, line in enumerate(source.lines):
        found = _NUMBER.match(line)
        if found is not None:
            ledger.add(_record(command, found["number"], ledger.span(index)))
    return ledger.close("a number")


def _record(command: Command, number: str, span: Span) -> Record:
    if _counts_connections(command):
        return SysctlRecord(span=span, key=TRACKED, value=number)
    return StatementRecord(span=span, statement=NeighbourCount(int(number)))


def _counts_connections(command: Command) -> bool:
    arguments = set(command.arguments)
    if command.program == "conntrack":
        return arguments <= {"-L", "--dump"} and bool(arguments) and _is_counted(command)
    read_whole = command.program in {"cat", "sudo"} and _is_counted(command)
    return bool(arguments & _TABLES) and (read_whole or command.program == "wc")


def _counts_neighbours(command: Command) -> bool:
    words = [word for word in command.arguments if not word.startswith("-")]
    if command.program == "ip":
        neigh = bool(words) and "neighbour".startswith(words[0]) and words[0].startswith("n")
        return neigh and not _NARROWING & set(words) and _is_counted(command)
    return command.program == "arp" and not words and _is_counted(command)


def _is_counted(command: Command) -> bool:
    """Tell whether the whole output was counted."""
    return command.filters == (("wc", "-l"),)


FORMAT = Format("wc -l", recognise, read)
