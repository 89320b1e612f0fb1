"""The order of everything that netfilter runs at a hook, as data.

Priorities are those of include/uapi/linux/netfilter_ipv4.h v6.12 (netfilter_ipv6.h has the same).
Among equal priorities the entry that was registered last runs first
(net/netfilter/core.c:nf_hook_entries_grow v6.12).
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.vocabulary import Hook

HOOKS = (Hook.PREROUTING, Hook.INPUT, Hook.FORWARD, Hook.OUTPUT, Hook.POSTROUTING)
LAST = 0x7FFFFFFF


class HookEntry(NamedTuple):
    """What runs at a hook, and when."""

    hook: Hook
    priority: int
    name: str
    """A table's name, or `conntrack` and `conntrack confirm`."""
    function: str
    """The kernel function, for the steps."""
    flavours: frozenset[str] = frozenset({"legacy", "nft"})
    """Which flavors' tables have that priority."""


_CONNTRACK = "net/netfilter/nf_conntrack_proto.c:ipv4_conntrack_in v6.12"
_CONNTRACK_LOCAL = "net/netfilter/nf_conntrack_proto.c:ipv4_conntrack_local v6.12"
_CONFIRM = "net/netfilter/nf_conntrack_proto.c:nf_confirm v6.12"
_TABLE = "net/ipv4/netfilter/ip_tables.c:ipt_do_table v6.12"
_MANGLE = "net/ipv4/netfilter/iptable_mangle.c:iptable_mangle_hook v6.12"
_NAT = "net/netfilter/nf_nat_core.c:nf_nat_inet_fn v6.12"

HOOK_ENTRIES: tuple[HookEntry, ...] = (
    HookEntry(Hook.PREROUTING, -300, "raw", _TABLE),
    HookEntry(Hook.PREROUTING, -200, "conntrack", _CONNTRACK),
    HookEntry(Hook.PREROUTING, -150, "mangle", _MANGLE),
    HookEntry(Hook.PREROUTING, -100, "nat", _NAT),
    HookEntry(Hook.INPUT, -150, "mangle", _MANGLE),
    HookEntry(Hook.INPUT, 0, "filter", _TABLE),
    HookEntry(Hook.INPUT, 50, "security", _TABLE, frozenset({"legacy"})),
    HookEntry(Hook.INPUT, 100, "nat", _NAT),
    HookEntry(Hook.INPUT, 150, "security", _TABLE, frozenset({"nft"})),
    HookEntry(Hook.INPUT, LAST, "conntrack confirm", _CONFIRM),
    HookEntry(Hook.FORWARD, -150, "mangle", _MANGLE),
    HookEntry(Hook.FORWARD, 0, "filter", _TABLE),
    HookEntry(Hook.FORWARD, 50, "security", _TABLE, frozenset({"legacy"})),
    HookEntry(Hook.FORWARD, 150, "security", _TABLE, frozenset({"nft"})),
    HookEntry(Hook.OUTPUT, -300, "raw", _TABLE),
    HookEntry(Hook.OUTPUT, -200, "conntrack", _CONNTRACK_LOCAL),
    HookEntry(Hook.OUTPUT, -150, "mangle", _MANGLE),
    HookEntry(Hook.OUTPUT, -100, "nat", _NAT),
    HookEntry(Hook.OUTPUT, 0, "filter", _TABLE),
    HookEntry(Hook.OUTPUT, 50, "security", _TABLE, frozenset({"legacy"})),
    HookEntry(Hook.OUTPUT, 150, "security", _TABLE, frozenset({"nft"})),
    HookEntry(Hook.POSTROUTING, -150, "mangle", _MANGLE),
    HookEntry(Hook.POSTROUTING, 100, "nat", _NAT),
    HookEntry(Hook.POSTROUTING, LAST, "conntrack confirm", _CONFIRM),
)
"""iptables-nft gives its security table a priority of its own (iptables 1.8, nft.c).
Defragmentation (-400) is part of the conntrack entry here. NAT's priority is its dispatcher's:
chains of type nat have no place of their own among the others, and the one that sets up a
translation is the last that runs.
"""
DEFRAGMENTATION = -400
"""NF_IP_PRI_CONNTRACK_DEFRAG: where conntrack is at work, datagrams are put together there."""

TABLE_NAMES = ("raw", "mangle", "nat", "filter", "security")
