"""The rules of two nodes' tables as lines, unread: which are entries for one address or port, which
chains are entered by entries alone, what differs, and what packets are rewritten to.

What comes in are tables whose rules are not read yet: reading 150,000 of them takes longer than all
that is asked here. A line is understood only where it is spelled as `iptables-save` spells it, from
its beginning; what is spelled otherwise is a rule that any packet may meet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from podpath.net.addresses import Address, Family
from podpath.net.provenance import Fact, Known
from podpath.node.netfilter import Chain, SpelledRules, Table
from podpath.node.node import Node
from podpath_fleet.header_region import Ranges, join_ranges

_ENTRY = re.compile(
    r"-A \S+ (?:-d (?P<dst>[0-9A-Fa-f.:]+)/(?:32|128) )?"
    r"(?:-p (?:tcp|udp|sctp) (?:-m comment --comment (?:\"[^\"\\]*\"|[^\s\"]+) )?"
    r"-m (?:tcp|udp|sctp) --dport (?P<port>\d+) )?"
)
_TARGET = re.compile(r" -[jg] (\S+)")
_LOCAL_JUMP = re.compile(r" -m addrtype --dst-type LOCAL -j \S+$")
_LONG_JUMP = re.compile(r"--(?:jump|goto)\b")
_REWRITTEN = re.compile(r"--(?:to(?:-\w+)?|on-ip) (\S+)")
"""What packets are rewritten to."""
_EXTENSION = re.compile(r"-m (\S+)")
_PLAIN = frozenset(
    {"", "ACCEPT", "DROP", "REJECT", "RETURN", "comment", "statistic", "sctp", "tcp", "udp"}
)
"""Targets and extensions of which nothing asks whether any rule of a node has them."""


class CannotCutError(Exception):
    """More may differ than what flows to single destinations meet."""


class EntryKey(NamedTuple):
    """What an entry is for: one address, or one port."""

    address: Address | None
    port: int
    """Of an entry for an address 0."""


class TablePlace(NamedTuple):
    """Which table of which namespace."""

    netns: str
    family: Family
    flavour: str
    name: str


class Rewritten(NamedTuple):
    """What packets of a node are rewritten to."""

    addresses: frozenset[Address]
    ports: Ranges


@dataclass(frozen=True, slots=True)
class ChainLines:
    """The rules of a chain as they are written, without counters."""

    lines: list[str]
    keys: list[EntryKey | None]
    """What each is an entry for; None for a rule that is none."""
    ports: list[int | None]
    """The one port that each entry asks for, where it asks for one."""
    targets: list[str]

    def split(self) -> tuple[list[str], dict[tuple[int, EntryKey], list[str]]]:
        """Return the rules that are no entries, and entries by how many of these stand before them
        and what they are for: others of their kind never match the same packet.
        """
        others: list[str] = []
        entries: dict[tuple[int, EntryKey], list[str]] = {}
        for line, key in zip(self.lines, self.keys, strict=True):
            if key is None:
                others.append(line)
            else:
                entries.setdefault((len(others), key), []).append(line)
        return others, entries


@dataclass(slots=True)
class TableLines:
    """The chains of a table, and who leads to which."""

    table: Table
    chains: dict[str, ChainLines]
    _jumps: dict[str, list[tuple[str, EntryKey | None]]] = field(default_factory=dict)
    """By chain: the chains that lead to it, and for what."""
    _owners: dict[str, frozenset[EntryKey] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note who leads to which chain."""
        for name, chain in self.chains.items():
            for key, target in zip(chain.keys, chain.targets, strict=True):
                if target in self.chains:
                    self._jumps.setdefault(target, []).append((name, key))

    def find_owners(self, name: str) -> frozenset[EntryKey] | None:
        """Return what a packet has to be for so that it enters a chain; None for whatever else."""
        if name not in self._owners:
            self._owners[name] = None  # as long as it is not known: of a chain that leads to itself
            self._owners[name] = self._join_owners(name)
        return self._owners[name]

    def is_for_local(self, name: str) -> bool:
        """Tell whether a chain is entered only for local addresses."""
        fact = self.table.chains.get(name)
        if fact is not None and known_chain(fact).policy is not None:
            return False
        leading = {chain for chain, _ in self._jumps.get(name, ())}
        return all(map(_LOCAL_JUMP.search, self._list_jumps(leading, name)))

    def _list_jumps(self, chains: Iterable[str], name: str) -> Iterator[str]:
        """Yield the lines of some chains that lead to a chain."""
        for chain in chains:
            own = self.chains[chain]
            for line, target in zip(own.lines, own.targets, strict=True):
                if target == name:
                    yield line

    def _join_owners(self, name: str) -> frozenset[EntryKey] | None:
        fact = self.table.chains.get(name)
        if fact is not None and known_chain(fact).policy is not None:
            return None
        found: set[EntryKey] = set()
        for chain, key in self._jumps.get(name, ()):
            own = frozenset((key,)) if key is not None else self.find_owners(chain)
            if own is None:
                return None
            found |= own
        return frozenset(found)

    def list_kinds(self, chain: ChainLines, places: Iterable[int]) -> set[str]:
        """Return the extensions and targets of some rules, but for chains and plain ones."""
        numbers = list(places)
        extensions = _EXTENSION.findall("\n".join([chain.lines[place] for place in numbers]))
        targets = {chain.targets[place] for place in numbers}
        return {one for one in (*extensions, *targets) if one not in self.chains} - _PLAIN


Tables = dict[TablePlace, TableLines]


def read_tables(node: Node, known: Tables) -> Tables:
    """Return the lines of all tables; chains whose lines are known are not looked through again."""
    found: Tables = {}
    for name, netns in node.namespaces.items():
        for family, netfilter in netns.netfilter.items():
            for table in netfilter.tables:
                place = TablePlace(name, family, table.flavour, table.name)
                twin = known.get(place)
                if place in found:
                    raise CannotCutError
                found[place] = _read_table(table, twin.chains if twin is not None else {})
    return found


def _read_table(table: Table, known: Mapping[str, ChainLines]) -> TableLines:
    chains: dict[str, ChainLines] = {}
    for name, fact in table.chains.items():
        chain = known_chain(fact)
        if not (table.complete and chain.complete and chain.in_line is None):
            raise CannotCutError
        lines = _spell_rules(chain)
        twin = known.get(name)
        chains[name] = twin if twin is not None and twin.lines == lines else _read_lines(lines)
    return TableLines(table, chains)


def known_chain(fact: Fact[Chain]) -> Chain:
    """Return a chain that outputs agree about."""
    if isinstance(fact, Known):
        chain: Chain = fact.value
        return chain
    raise CannotCutError


def _spell_rules(chain: Chain) -> list[str]:
    if not len(chain.rules):
        return []
    lines = chain.rules.spell() if isinstance(chain.rules, SpelledRules) else None
    if lines is None:
        raise CannotCutError
    return lines


def _read_lines(lines: list[str]) -> ChainLines:
    keys: list[EntryKey | None] = []
    ports: list[int | None] = []
    for line in lines:
        match = _ENTRY.match(line)
        dst, port = match.group("dst", "port") if match is not None else (None, None)
        ports.append(None if port is None else int(port))
        if dst is not None:
            keys.append(EntryKey(_parse_destination(dst), 0))
        else:
            keys.append(None if port is None else EntryKey(None, int(port)))
    if any(key is not None and key.address is not None for key in keys):
        # beside entries for addresses those for ports are not told apart from other rules
        keys = [None if key is None or key.address is None else key for key in keys]
    if _LONG_JUMP.search("\n".join(lines)):
        raise CannotCutError
    targets = [(_TARGET.findall(line) or [""])[-1] for line in lines]
    return ChainLines(lines, keys, ports, targets)


def _parse_destination(text: str) -> Address:
    try:
        return Address.parse(text)
    except ValueError as error:
        raise CannotCutError from error


def list_changed(one: TableLines, other: TableLines) -> Iterator[EntryKey]:
    """Yield what packets have to be for so that they meet what differs between two tables."""
    for name in dict.fromkeys((*one.chains, *other.chains)):
        here, there = one.chains.get(name), other.chains.get(name)
        if here is None or there is None:
            yield from _own_all(name, one, other)
            continue
        both = (known_chain(table.table.chains[name]) for table in (one, other))
        if len({chain.policy for chain in both}) > 1:
            raise CannotCutError
        if here is there:
            continue
        (plain, entries), (others, more) = here.split(), there.split()
        if plain != others:
            yield from _own_all(name, one, other)
        for place in entries.keys() | more.keys():
            if entries.get(place) != more.get(place):
                yield place[1]


def _own_all(name: str, *tables: TableLines) -> Iterator[EntryKey]:
    """Yield what packets have to be for so that they enter a chain of some tables."""
    for table in tables:
        owners = table.find_owners(name)
        if owners is None:
            raise CannotCutError
        yield from owners


def find_rewritten(tables: Tables) -> Rewritten:
    """Return what packets are rewritten to; ranges of addresses are refused."""
    addresses: set[Address] = set()
    ports: list[tuple[int, int]] = []
    for lines in tables.values():
        text = "\n".join([line for chain in lines.chains.values() for line in chain.lines])
        for word in set(_REWRITTEN.findall(text)):
            address, own = _read_rewritten(word)
            addresses |= {address} if address is not None else set()
            ports += own
    return Rewritten(frozenset(addresses), join_ranges(ports))


def _read_rewritten(word: str) -> tuple[Address | None, list[tuple[int, int]]]:
    if word.replace("-", "").isdecimal():
        address, ports = "", word
    elif "]:" in word or word.count(":") == 1:
        address, _, ports = word.rpartition(":")
    else:
        address, ports = word, ""
    if not address and word.startswith(":"):
        raise CannotCutError  # a port alone, of whatever address
    first, _, last = ports.partition("-")
    try:
        own = [(int(first), int(last or first))] if ports else []
        return (Address.parse(address.strip("[]")) if address else None), own
    except ValueError as error:
        raise CannotCutError from error
