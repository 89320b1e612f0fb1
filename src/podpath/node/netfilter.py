"""iptables tables as the kernel holds them: chains of rules, each with its matches and one target.

A rule (`xtables.rule`) keeps the fields of `struct ipt_ip` typed, since evaluation and indexing
need them at once; extensions stay as a name with options, in the order they stand in, and are
compiled by `datapath.xtables` when a walk first meets them. So a rule with an extension that nobody
knows keeps its place, its text and its span, and 150,000 rules cost no more than is walked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

from podpath.net.addresses import Address, Family
from podpath.net.packet import endpoint
from podpath.net.protocols import ICMP, ICMPV6, protocol_name
from podpath.net.provenance import Fact, Span
from podpath.xtables.legality import ChainPolicy, TableFlavour, TableName
from podpath.xtables.rule import (
    InterfaceMatch,
    Match,
    MatchOption,
    PrefixMatch,
    ProtocolMatch,
    Rule,
    Target,
)

__all__ = [
    "TABLE_ORDER",
    "Chain",
    "ConnTuple",
    "ConntrackEntry",
    "InterfaceMatch",
    "IpSet",
    "Match",
    "MatchOption",
    "Netfilter",
    "PrefixMatch",
    "ProtocolMatch",
    "Rule",
    "SetMember",
    "SpelledRules",
    "Table",
    "Target",
]


TABLE_ORDER = tuple(TableName)
"""The kernel's order of iptables tables, as far as it is the same at all hooks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A chain: a base chain has a policy, a user chain none."""

    name: str
    rules: Sequence[Rule]
    """In evaluation order. May be a lazy sequence that reads rules when they are first asked
    for.
    """
    policy: ChainPolicy | None = None
    """Of a base chain."""
    complete: bool = True
    """False where the evidence shows only some of its rules."""
    in_line: int | None = None
    """How many of its shown rules stand at its head with none left out before them; None: all."""
    span: Span | None = None
    """Where it is declared."""
    packets: int | None = None


@runtime_checkable
class SpelledRules(Protocol):
    """The rules of a chain whose lines are at hand before anybody reads them."""

    def spell(self) -> list[str] | None:
        """Return the lines without counters; None where a rule is no whole line."""

    def pick(self, places: Sequence[int]) -> Sequence[Rule]:
        """Return some of the rules, by their places from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One iptables table of one flavor and family."""

    name: TableName
    family: Family
    flavour: TableFlavour
    chains: Mapping[str, Fact[Chain]]
    complete: bool = True
    """False: a chain that is missing here may exist; the walk asks for it."""
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IpSet:
    """A set of the ipset family (`ipset save`)."""

    name: str
    type: str
    """E.g. `hash:ip,port`, `hash:net`, `list:set`."""
    family: Family
    members: tuple[SetMember, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
    span: Span | None = None


class SetMember(NamedTuple):
    """One element of a set: its dimensions as text in order, and whether it is a `nomatch`
    exception.
    """

    parts: tuple[str, ...]
    nomatch: bool = False
    options: tuple[MatchOption, ...] = ()
    span: Span | None = None


class ConnTuple(NamedTuple):
    """One direction of a conntrack entry. For ICMP echo both ports are the identifier."""

    src: Address
    dst: Address
    protocol: int
    sport: int = 0
    dport: int = 0

    def __str__(self) -> str:
        """Spell it as a probe does: `tcp 10.0.0.1:1234 > 10.0.0.2:80`."""
        name = protocol_name(self.protocol)
        if self.protocol in {ICMP, ICMPV6} or not (self.sport or self.dport):
            return f"{name} {self.src} > {self.dst}"
        return f"{name} {endpoint(self.src, self.sport)} > {endpoint(self.dst, self.dport)}"


class ConntrackEntry(NamedTuple):
    """An entry of the connection tracking table."""

    original: ConnTuple
    reply: ConnTuple
    state: str = ""
    """TCP state such as `SYN_SENT`; empty for other protocols."""
    assured: bool = False
    replied: bool = False
    """False where the entry says [UNREPLIED]."""
    mark: int = 0
    zone: int = 0
    offloaded: bool = False
    timeout: int | None = None
    """Seconds left."""
    span: Span | None = None


class TrackedEntries(tuple[ConntrackEntry, ...]):  # noqa: SLOT001  # it has an attribute to fill
    """The entries of one table, with what is worked out of them once for every walk: a full table
    has 262,144, and a diagnosis walks in many worlds that differ in other things.
    """

    indexed: Any = None
    """Typed where it is made; None until somebody asks."""

    @classmethod
    def of(cls, items: Iterable[ConntrackEntry]) -> TrackedEntries:
        """Return these themselves where they are a table already, else a table of them."""
        if isinstance(items, TrackedEntries):
            return items
        return cls(items)

    @cached_property
    def rewritten(self) -> tuple[ConntrackEntry, ...]:
        """The entries whose answers come from another address than was asked."""
        return tuple(entry for entry in self if entry.reply.src != entry.original.dst)


@dataclass(frozen=True, slots=True, kw_only=True)
class Netfilter:
    """Everything that netfilter holds in one namespace."""

    tables: tuple[Table, ...] = ()
    complete: bool = False
    """True where the evidence lists all tables of this family and flavor, so that a table not here
    does not exist.
    """
    ask: str = "iptables-save -c"
    sets: Mapping[str, IpSet] = field(default_factory=dict)
    sets_complete: bool = False
