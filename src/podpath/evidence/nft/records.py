"""What outputs of nft state: tables, chains, sets and rules, one record each, in the order of the
output.
"""

from __future__ import annotations

from dataclasses import dataclass

from podpath.evidence.records import Record
from podpath.net import nft

HOOKS = frozenset(nft.NftHook)
"""Where a base chain may stand; a regular chain stands nowhere."""
TYPES = frozenset(nft.NftChainType)
"""What a base chain is for."""
FAMILIES = frozenset(nft.NftFamily)
"""What a table may be of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NftTableRecord(Record):
    """A table. What belongs to it follows in records of its own."""

    family: nft.NftFamily
    name: str
    flags: tuple[str, ...] = ()
    """As they are spelled: for a single one nft before 1.0.7 prints freed memory in JSON
    (src/json.c:table_flags_json).
    """
    objects: tuple[str, ...] = ()
    """Counters, quotas, helpers and flowtables of the table, as they are spelled."""
    managed: bool = False
    """True where nft warns that iptables-nft manages it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NftChainRecord(Record):
    """A chain's heading."""

    family: nft.NftFamily
    table: str
    name: str
    type: nft.NftChainType = nft.NftChainType.REGULAR
    hook: nft.NftHook = nft.NftHook.NONE
    priority: int = 0
    policy: nft.NftPolicy = nft.NftPolicy.ACCEPT
    devices: tuple[str, ...] = ()
    handle: int | None = None
    whole: bool = True
    """True where its rules stand between its braces with none left out."""
    in_line: int | None = None
    """How many of its rules stand at its head with none left out before them; None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NftSetRecord(Record):
    """A named set or map with its elements."""

    family: nft.NftFamily
    table: str
    name: str
    types: tuple[str, ...]
    elements: tuple[nft.Element, ...] = ()
    data: str = ""
    flags: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    typeof: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NftRuleRecord(Record):
    """A rule."""

    family: nft.NftFamily
    table: str
    chain: str
    statements: tuple[nft.Statement, ...]
    handle: int | None = None
    comment: str = ""
    unread: str = ""
    """What of the rule was not understood; empty: nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NftListingRecord(Record):
    """What an output of nft shows, as a whole."""

    scope: str
    """`ruleset`, `table`, `chain`, or empty where neither the command nor the output says."""
    whole: bool
    """True where nothing of it is cut."""
