"""Base chains listed by the programs that know them, without changing anything.

iptables-legacy makes a table, with its hooks, by listing it. So it is asked only for tables that
are there (/proc/net/ip_tables_names); iptables-nft lists what is not there without making it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from podpath_protect.apply import TIMED_OUT, Applier, ApplyError
from podpath_protect.order.chains import Backend, BaseChain, ChainRules, Family, parse_listing
from podpath_protect.order.rules import OrderRule

PROC_NET = Path("/proc/thread-self/net")
"""Of this thread's network namespace; /proc/net is the process's first thread's."""
_NAMES: dict[Family, str] = {"ipv4": "ip_tables_names", "ipv6": "ip6_tables_names"}
_BACKENDS: tuple[Backend, ...] = ("nft", "legacy")
_FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
RESOURCE_PROBLEM = 4
"""What iptables ends with where it gets no lock, or may not ask (xtables.h: RESOURCE_PROBLEM)."""
WAIT = ("-w", "5")
"""Seconds to wait for the lock that legacy iptables holds (/run/xtables.lock)."""


class ListedChains(NamedTuple):
    """What could be listed, and what could not."""

    listings: tuple[ChainRules, ...]
    failures: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    """Failures behind which a chain may stand: no lock was to be had, no right, no answer in time.
    """


def list_chains(
    rules: Iterable[OrderRule], reader: Applier, proc_net: Path = PROC_NET
) -> ListedChains:
    """List each base chain that the rules speak of, in each backend and family that has it."""
    chains = dict.fromkeys((rule.table, rule.chain) for rule in rules)
    listings: list[ChainRules] = []
    failures: list[str] = []
    unknown: list[str] = []
    for backend in _BACKENDS:
        for family in _FAMILIES:
            present = legacy_tables(family, proc_net) if backend == "legacy" else None
            for table, chain in chains:
                if present is not None and table not in present:
                    continue
                place = BaseChain(backend, family, table, chain)
                try:
                    listings.append(list_chain(place, reader))
                except ApplyError as error:
                    failures.append(str(error))
                    if error.refusal == "absent":
                        break  # the program is not installed
                    if error.refusal == "denied" or error.code in {RESOURCE_PROBLEM, TIMED_OUT}:
                        unknown.append(str(error))
    return ListedChains(tuple(listings), tuple(failures), tuple(unknown))


def list_chain(place: BaseChain, reader: Applier) -> ChainRules:
    """List one base chain; `ApplyError` where the program fails."""
    effect = reader.run((place.program, *WAIT, "-t", place.table, "-S", place.chain))
    return parse_listing(effect.detail, place)


def legacy_tables(family: Family, proc_net: Path = PROC_NET) -> frozenset[str]:
    """Return the tables that the legacy backend has in this namespace."""
    try:
        return frozenset((proc_net / _NAMES[family]).read_text(encoding="utf-8").split())
    except OSError:
        return frozenset()
