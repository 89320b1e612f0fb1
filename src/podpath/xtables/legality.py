"""Where rules may stand: the tables with their base chains, and which of them the kernel lets a
target or match be in.

The kernel checks every path that leads to a target (`mark_source_chains` and `xt_check_target`,
net/ipv4/netfilter/ip_tables.c and net/netfilter/x_tables.c v6.12).
"""

from __future__ import annotations

from collections.abc import Mapping

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

_NAT, _MANGLE, _RAW = frozenset({"nat"}), frozenset({"mangle"}), frozenset({"raw"})
TARGET_TABLES: Mapping[str, frozenset[str]] = {
    "DNAT": _NAT, "SNAT": _NAT, "MASQUERADE": _NAT, "REDIRECT": _NAT, "NETMAP": _NAT,
    "REJECT": frozenset({"filter"}), "CT": _RAW, "NOTRACK": _RAW, "TRACE": _RAW,
    "TPROXY": _MANGLE, "CHECKSUM": _MANGLE, "TTL": _MANGLE, "HL": _MANGLE, "ECN": _MANGLE, "DSCP": _MANGLE, "TOS": _MANGLE,
    "SNPT": _MANGLE, "DNPT": _MANGLE, "DROP": ALL_TABLES - _NAT,
}  # fmt: skip
"""`.table` of each target in net/netfilter/xt_*.c; iptables itself refuses DROP in nat
(`nft_handle`, `filter_table` 1.8).
"""
TARGET_HOOKS: Mapping[str, frozenset[str]] = {
    "DNAT": frozenset({"PREROUTING", "OUTPUT"}),
    "REDIRECT": frozenset({"PREROUTING", "OUTPUT"}),
    "MASQUERADE": frozenset({"POSTROUTING"}),
    "SNAT": frozenset({"POSTROUTING", "INPUT"}),
    "REJECT": frozenset({"INPUT", "FORWARD", "OUTPUT"}),
    "TPROXY": frozenset({"PREROUTING"}),
}
"""`.hooks` of each target in xt_*.c and ipt_*.c: every base chain that leads to it must be one of
these.
"""
MATCH_TABLES: Mapping[str, frozenset[str]] = {"rpfilter": _RAW | _MANGLE}
"""`.table` of matches that no module of `xtables` holds."""
