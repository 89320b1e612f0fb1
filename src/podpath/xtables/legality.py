"""Where rules may stand: the tables with their base chains. Which of them an extension may be in is
its own `tables` and `hooks`.

The kernel checks every path that leads to a target (`mark_source_chains` and `xt_check_target`,
net/ipv4/netfilter/ip_tables.c and net/netfilter/x_tables.c v6.12).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class TableName(StrEnum):
    """The tables of iptables, in the order that the kernel runs them in, as far as it is the same
    at all hooks.
    """

    RAW = "raw"
    MANGLE = "mangle"
    NAT = "nat"
    FILTER = "filter"
    SECURITY = "security"


class TableFlavour(StrEnum):
    """How iptables put a table into the kernel; they are two sets of hooks, and both run."""

    LEGACY = "legacy"
    NFT = "nft"


class ChainPolicy(StrEnum):
    """What becomes of a packet that no rule of a base chain decides on."""

    ACCEPT = "ACCEPT"
    DROP = "DROP"


BASE_CHAINS: Mapping[str, tuple[str, ...]] = {
    "raw": ("PREROUTING", "OUTPUT"),
    "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
    "nat": ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"),
    "filter": ("INPUT", "FORWARD", "OUTPUT"),
    "security": ("INPUT", "FORWARD", "OUTPUT"),
}
"""The tables, each with its base chains."""
ALL_TABLES = frozenset(BASE_CHAINS)
ALL_HOOKS = frozenset(name for names in BASE_CHAINS.values() for name in names)
SOURCE_NAT = frozenset({"MASQUERADE", "SNAT"})
"""Targets of nat that rewrite where a packet comes from: they stand behind the routing."""
DESTINATION_NAT = frozenset({"DNAT", "REDIRECT"})
"""Targets of nat that rewrite where a packet goes: they stand before the routing."""
DROP_TABLES = ALL_TABLES - {"nat"}
"""iptables itself refuses DROP in nat (`nft_handle`, `filter_table` 1.8)."""
