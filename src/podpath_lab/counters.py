"""How often each rule matched: the kernel's own counters, read after a probe."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from podpath.net.addresses import Family
from podpath.node.node import Netns, Node
from podpath_lab.apply import run
from podpath_lab.script import ScriptCommand

_TABLE = re.compile(r"\*(\w+)")
_RULE = re.compile(r"\[(\d+):\d+\] -A (\S+) ?(.*)")


class CountedRule(NamedTuple):
    """Where a rule stands."""

    netns: str
    flavour: str
    table: str
    chain: str
    position: int
    family: Family = 4


def read_counters(node: Node) -> Mapping[CountedRule, int]:
    """Return the packet counter of every rule of the node's twin that matched at all."""
    counts: dict[CountedRule, int] = {}
    for netns in node.namespaces.values():
        held = {
            (family, table.flavour)
            for family, netfilter in netns.netfilter.items()
            for table in netfilter.tables
        }
        for family, flavour in sorted(held):
            program = f"ip{'6' * (family == 6)}tables-{flavour}-save"
            text = run(ScriptCommand((program, "-c"), netns=netns.name))
            found = _parse(text, netns.name, flavour, family)
            counts |= {place: count for place, count in found if count}
        for listed in _native_listings(netns):
            text = run(ScriptCommand(("nft", "-j", "list", *listed), netns=netns.name))
            counts |= {place: count for place, count in _parse_native(text, netns) if count}
    return counts


def _native_listings(netns: Netns) -> Iterator[tuple[str, ...]]:
    """Yield what to list. What nft before 1.0.7 prints for the flags of a table may be no JSON
    (src/json.c:table_flags_json), so the chains of one that has some are listed by themselves.
    """
    tables = netns.nftables.items
    if tables and not any(table.dormant for table in tables):
        yield ("ruleset",)
        return
    for table in tables:
        if not table.dormant:
            yield ("table", table.family, table.name)
            continue
        for chain in table.chains:
            yield ("chain", table.family, table.name, chain)


def _parse_native(text: str, netns: Netns) -> Iterator[tuple[CountedRule, int]]:
    """Read the counters of native rules; a rule without one counts nothing."""
    tables = {(table.family, table.name) for table in netns.nftables.items}
    positions: dict[tuple[str, str, str], int] = {}
    for item in json.loads(text)["nftables"]:
        rule = item.get("rule")
        if rule is None or (rule["family"], rule["table"]) not in tables:
            continue
        chain = (rule["family"], rule["table"], rule["chain"])
        position = positions[chain] = positions.get(chain, 0) + 1
        counters = [
            part["counter"] for part in rule["expr"] if isinstance(part, dict) and "counter" in part
        ]
        if counters:
            place = CountedRule(
                netns.name, "native", f"{rule['family']} {rule['table']}", rule["chain"], position
            )
            yield place, counters[0]["packets"]


def _parse(
    text: str, netns: str, flavour: str, family: Family = 4
) -> Iterator[tuple[CountedRule, int]]:
    table = ""
    positions: dict[tuple[str, str], int] = {}
    for line in text.splitlines():
        heading = _TABLE.fullmatch(line)
        if heading:
            table = heading[1]
        rule = _RULE.match(line)
        if rule:
            position = positions[table, rule[2]] = positions.get((table, rule[2]), 0) + 1
            place = CountedRule(netns, flavour, table, rule[2], position, family)
            yield place, int(rule[1])
