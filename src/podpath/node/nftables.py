"""Native nftables as the kernel holds them: tables of chains of rules, sets and maps (nft(8)).

Tables that iptables-nft wrote are not here: they are `node.netfilter.Table`s of the flavor `nft`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from podpath.net import nft
from podpath.net.nft import NftChainType, NftFamily, NftHook, NftPolicy
from podpath.net.provenance import Span


class NftRule(NamedTuple):
    """One rule of a chain."""

    family: NftFamily
    table: str
    chain: str
    position: int
    """From 1, in the order of the chain."""
    span: Span
    statements: tuple[nft.Statement, ...]
    """In order; the first condition that does not hold ends the rule, what stands before it has
    been done.
    """
    handle: int | None = None
    """As `nft -a` shows it; None where it was not asked for."""
    comment: str = ""
    unread: str = ""
    """Why the rule's text was not fully understood; empty when it was."""

    @property
    def place(self) -> str:
        """Name the chain that it stands in, with its table: `inet firewalld filter_INPUT`."""
        return f"{self.family} {self.table} {self.chain}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NftChain:
    """A chain: a base chain stands at a hook, a regular one is jumped to."""

    name: str
    rules: tuple[NftRule, ...] = ()
    type: NftChainType = NftChainType.REGULAR
    hook: NftHook = NftHook.NONE
    priority: int = 0
    policy: NftPolicy = NftPolicy.ACCEPT
    devices: tuple[str, ...] = ()
    """Of ingress and egress chains."""
    complete: bool = True
    """False where the evidence shows only some of its rules."""
    in_line: int | None = None
    """How many of its shown rules stand at its head with none left out before them; None: all."""
    span: Span | None = None

    @property
    def is_base(self) -> bool:
        """Tell whether it stands at a hook."""
        return bool(self.hook)


@dataclass(frozen=True, slots=True, kw_only=True)
class NftSet:
    """A named set, map or verdict map."""

    name: str
    types: tuple[str, ...]
    """Datatypes of the key's parts (`ipv4_addr`, `inet_service`), or expressions where it was made
    with `typeof`.
    """
    elements: tuple[nft.Element, ...] = ()
    data: str = ""
    """Datatype of a map's data, parts joined by ` . `; `verdict` for a verdict map; empty for a
    set.
    """
    flags: tuple[str, ...] = ()
    """`constant`, `interval`, `timeout`, `dynamic`."""
    options: tuple[str, ...] = ()
    """Further properties as they are spelled: `timeout 1h`, `size 65535`, `auto-merge`."""
    typeof: bool = False
    complete: bool = True
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NftTable:
    """One table."""

    family: NftFamily
    name: str
    chains: Mapping[str, NftChain] = field(default_factory=dict)
    """In the order in which they were made: of base chains with one priority, the last made runs
    first.
    """
    sets: Mapping[str, NftSet] = field(default_factory=dict)
    objects: tuple[str, ...] = ()
    """Named counters, quotas, helpers and flowtables, as they are spelled."""
    dormant: bool = False
    """True: its base chains are not registered."""
    unread_flags: tuple[str, ...] = ()
    """Flags that nobody knows, one of which may be that of a dormant table."""
    complete: bool = True
    """False: a chain that is missing here may exist."""
    span: Span | None = None

    @property
    def is_active(self) -> bool:
        """Tell whether its base chains are surely registered."""
        return not self.dormant and not self.unread_flags
