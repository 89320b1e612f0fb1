"""A script for `nft -f` to the native tables that a namespace has after it.

The kernel takes a script as a whole or not at all: what it would refuse is a gap, as is what
reaches into a table that iptables-nft made, since rules of both languages in one table are not
modeled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from podpath.assembly.netfilter.nftables import assemble_set, place_rules
from podpath.evidence.nft.records import (
    NftChainRecord,
    NftRuleRecord,
    NftSetRecord,
    NftTableRecord,
)
from podpath.evidence.nft.script import NftCommandRecord
from podpath.evidence.records import Record
from podpath.net.addresses import Family
from podpath.net.provenance import Gap
from podpath.node.change import PutNftables
from podpath.node.nftables import NftChain, NftRule, NftTable
from podpath.node.node import Netns

_FAMILIES: Mapping[str, tuple[Family, ...]] = {"ip": (4,), "ip6": (6,), "": (4, 6)}
_Key = tuple[str, str]
REMOVING = frozenset({"delete", "destroy", "replace"})
"""What a rule may be named for by its handle that is gone then."""


def assemble_script(
    records: Iterable[Record], namespace: Netns
) -> tuple[PutNftables, tuple[Gap, ...]]:
    """Return the tables after a script, and what of it cannot be taken over."""
    run = _Run(namespace)
    for record in records:
        run.take(record)
    run.close()
    change = PutNftables(
        netns=namespace.name,
        tables=tuple(run.tables.values()),
        flushed=tuple(sorted(run.flushed)),
        whole=run.whole,
    )
    return change, tuple(run.gaps)


class _Run:
    """The tables as a script finds them and leaves them. Mutable, used once."""

    def __init__(self, namespace: Netns) -> None:
        self.namespace = namespace
        self.tables: dict[_Key, NftTable] = {
            (one.family, one.name): one for one in namespace.nftables.items
        }
        self.foreign: set[_Key] = set()
        """Tables that iptables-nft made."""
        for family, held in namespace.netfilter.items():
            name = "ip" if family == 4 else "ip6"
            self.foreign |= {(name, table.name) for table in held.tables if table.flavour == "nft"}
        self.listed = namespace.nftables.complete
        self.flushed: set[Family] = set()
        self.whole = False
        self.gaps: list[Gap] = []
        self.thinned: set[tuple[str, ...]] = set()
        """What the script has taken rules from: chains, tables, or () for everything."""
        self.removed: list[tuple[str, str, str, int | None]] = []
        """Chains and handles of rules that are deleted or replaced."""
        self.placed: list[NftCommandRecord] = []
        """Commands that name a rule by its handle or place."""
        self.placing: NftCommandRecord | None = None
        """Where the rule goes that follows; None for the end of its chain."""

    def take(self, record: Record) -> None:
        placing, self.placing = self.placing, None
        match record:
            case NftCommandRecord(kind="rule", verb="insert" | "add" | "create" | "replace"):
                self.placing = record
            case NftCommandRecord():
                self._command(record)
            case NftTableRecord():
                self._add_table(record)
            case NftChainRecord():
                self._add_chain(record)
            case NftSetRecord():
                self._add_set(record)
            case NftRuleRecord():
                self._add_rule(record, placing)
            case _:
                pass

    def close(self) -> None:
        """Refuse what nobody can tell: of rules that are named where the same script removes some,
        since the kernel still finds those, and nft counts them or not; and of places by number
        where the script replaces a rule below the last of them, since nft forgets the numbers then
        and adds at the end, inserts at the beginning (seen on 6.18 with nft 1.0.6).
        """
        self._doubt_numbers()
        for record in self.placed:
            whole = (record.family, record.table, record.name)
            emptied = not self.thinned.isdisjoint({(), (record.family,), whole[:2], whole})
            removed = [other for other in self.removed if other[:3] == whole]
            again = removed.count((*whole, record.handle)) > (record.verb in REMOVING)
            if emptied or again or (removed and record.handle is None):
                self.gaps = [gap for gap in self.gaps if gap.span != record.span]
                why = f"a rule of {record.name} is named in a script that removes it or others"
                self._refuse(record, f"{why}, which is not modeled")

    def _doubt_numbers(self) -> None:
        numbered = [at for at, one in enumerate(self.placed) if one.index is not None]
        last = max(numbered, default=len(self.placed))
        if any(one.verb == "replace" for one in self.placed[last:]):
            for record in (self.placed[at] for at in numbered):
                self.gaps = [gap for gap in self.gaps if gap.span != record.span]
                why = "stands above a command that replaces a rule, which is not modeled"
                self._refuse(record, f"index {record.index} {why}")

    def _refuse(self, record: Record, why: str) -> None:
        self.gaps.append(Gap(record.span, why))

    def _find(self, record: Record, key: _Key) -> NftTable | None:
        """Return a table that a command names; a gap where it is not there."""
        table = self.tables.get(key)
        if table is not None:
            return table
        name = " ".join(key)
        if key in self.foreign:
            self._refuse(record, f"table {name} is iptables-nft's: both in one are not modeled")
        elif self.listed or self.whole:
            self._refuse(record, f"nft refuses the script: there is no table {name}")
        else:
            self._refuse(record, f"no output shows table {name}: nft -a list ruleset")
        return None

    def _put(self, table: NftTable) -> None:
        self.tables[table.family, table.name] = table

    def _add_table(self, record: NftTableRecord) -> None:
        key = (record.family, record.name)
        if key in self.foreign:
            self._find(record, key)
        elif record.objects:
            self._refuse(record, "counters, quotas, helpers and flowtables are not modeled")
        elif key not in self.tables:
            if not (self.listed or self.whole):
                self._refuse(record, f"no output shows whether table {' '.join(key)} is there")
                return
            made = NftTable(
                family=record.family,
                name=record.name,
                dormant="dormant" in record.flags,
                span=record.span,
            )
            self._put(made)

    def _add_chain(self, record: NftChainRecord) -> None:
        table = self._find(record, (record.family, record.table))
        if table is None:
            return
        held = table.chains.get(record.name)
        if held is None:
            chain = NftChain(
                name=record.name,
                type=record.type,
                hook=record.hook,
                priority=record.priority,
                policy=record.policy,
                devices=record.devices,
                span=record.span,
            )
        elif record.hook and _stand(record) != _stand(held):
            where = held.hook or "no hook"
            self._refuse(record, f"nft refuses the script: {record.name} stands at {where}")
            return
        else:
            policy = record.policy if record.hook else held.policy
            chain = replace(held, policy=policy)
        self._put(replace(table, chains={**table.chains, record.name: chain}))

    def _add_set(self, record: NftSetRecord) -> None:
        table = self._find(record, (record.family, record.table))
        if table is None:
            return
        made = assemble_set(record)
        held = table.sets.get(record.name)
        if held is not None:
            made = replace(held, elements=(*held.elements, *made.elements))
        self._put(replace(table, sets={**table.sets, record.name: made}))

    def _add_rule(self, record: NftRuleRecord, placing: NftCommandRecord | None) -> None:
        table = self._find(record, (record.family, record.table))
        if table is None:
            return
        chain = table.chains.get(record.chain)
        if chain is None:
            self._refuse(record, f"nft refuses the script: there is no chain {record.chain}")
            return
        (rule,) = place_rules([record])
        rules = list(chain.rules)
        if placing is None:
            rules.append(rule)
        elif placing.handle is None and placing.index is None:
            rules.insert(0, rule)
        else:
            place = self._find_place(placing, chain)
            if place is None:
                return
            if placing.verb == "replace":
                rules[place] = rule
            else:
                rules.insert(place + (placing.verb != "insert"), rule)
        self._put_rules(table, chain, tuple(rules))

    def _find_place(self, record: NftCommandRecord, chain: NftChain) -> int | None:
        """Return the place of the rule that a command names; a gap where there is none, or nobody
        can tell.
        """
        self.placed.append(record)
        if record.verb in REMOVING:
            self.removed.append((record.family, record.table, record.name, record.handle))
        places = (place for place, rule in enumerate(chain.rules) if rule.handle == record.handle)
        found = record.index if record.handle is None else next(places, None)
        if found is not None and found < len(chain.rules) and chain.complete:
            return found
        where = f"chain {chain.name}"
        if not chain.complete:
            self._refuse(record, f"no output shows all rules of {where}: nft -a list ruleset")
        elif record.handle is None:
            self._refuse(record, f"nft refuses the script: {where} has no rule {record.index}")
        elif all(rule.handle is not None for rule in self._list_held(record)):
            self._refuse(record, f"nft refuses the script: {where} has no handle {record.handle}")
        else:
            self._refuse(record, f"no output shows the handles of {where}: nft -a list ruleset")
        return None

    def _list_held(self, record: NftCommandRecord) -> tuple[NftRule, ...]:
        """Return the rules that the chain has before the script."""
        for table in self.namespace.nftables.items:
            if (table.family, table.name) == (record.family, record.table):
                chain = table.chains.get(record.name)
                return chain.rules if chain is not None else ()
        return ()

    def _put_rules(self, table: NftTable, chain: NftChain, rules: tuple[NftRule, ...]) -> None:
        numbered = tuple(rule._replace(position=place) for place, rule in enumerate(rules, 1))
        after = replace(chain, rules=numbered)
        self._put(replace(table, chains={**table.chains, chain.name: after}))

    def _command(self, record: NftCommandRecord) -> None:
        if record.kind == "ruleset":
            self._flush_all(record)
            return
        key = (record.family, record.table)
        if record.verb == "destroy" and key not in self.tables and key not in self.foreign:
            return
        if record.kind == "table" and record.verb in {"delete", "destroy"} and key in self.foreign:
            self._refuse(record, f"deleting {' '.join(key)} of iptables-nft is not modeled")
            return
        table = self._find(record, key)
        if table is None:
            return
        match record.kind:
            case "table":
                self._change_table(record, table)
            case "chain" | "rule":
                self._change_chain(record, table)
            case _:
                self._change_set(record, table)

    def _flush_all(self, record: NftCommandRecord) -> None:
        if record.verb != "flush" or record.family not in {*_FAMILIES, "inet", "bridge", "netdev"}:
            self._refuse(record, f"`{record.verb} ruleset` is not modeled")
            return
        family = record.family
        self.thinned.add((family,) if family else ())
        self.tables = {
            key: table for key, table in self.tables.items() if family and key[0] != family
        }
        self.foreign = {key for key in self.foreign if family and key[0] != family}
        self.flushed |= set(_FAMILIES.get(family, ()))
        self.whole = self.whole or not family

    def _change_table(self, record: NftCommandRecord, table: NftTable) -> None:
        self.thinned.add((table.family, table.name))
        if record.verb == "flush":
            chains = {name: replace(chain, rules=()) for name, chain in table.chains.items()}
            self._put(replace(table, chains=chains))
        else:
            del self.tables[table.family, table.name]

    def _change_chain(self, record: NftCommandRecord, table: NftTable) -> None:
        chain = table.chains.get(record.name)
        if chain is None:
            if record.verb != "destroy":
                self._refuse(record, f"nft refuses the script: there is no chain {record.name}")
        elif record.verb == "flush":
            self.thinned.add((table.family, table.name, chain.name))
            self._put_rules(table, replace(chain, complete=True, in_line=None), ())
        elif record.kind == "rule":
            self._delete_rule(record, table, chain)
        else:
            self.thinned.add((table.family, table.name, chain.name))
            others = {name: one for name, one in table.chains.items() if name != record.name}
            self._put(replace(table, chains=others))

    def _delete_rule(self, record: NftCommandRecord, table: NftTable, chain: NftChain) -> None:
        place = self._find_place(record, chain)
        if place is not None:
            left = (*chain.rules[:place], *chain.rules[place + 1 :])
            self._put_rules(table, chain, left)

    def _change_set(self, record: NftCommandRecord, table: NftTable) -> None:
        held = table.sets.get(record.name)
        if held is None:
            if record.verb != "destroy":
                self._refuse(record, f"nft refuses the script: there is no set {record.name}")
            return
        if record.kind != "element" and record.verb != "flush":
            others = {name: one for name, one in table.sets.items() if name != record.name}
            self._put(replace(table, sets=others))
            return
        gone = {element.key for element in record.elements}
        match record.verb:
            case "add":
                elements = (*held.elements, *record.elements)
            case "flush":
                elements = ()
            case _:
                elements = tuple(one for one in held.elements if one.key not in gone)
        self._put(replace(table, sets={**table.sets, held.name: replace(held, elements=elements)}))


def _stand(chain: NftChainRecord | NftChain) -> tuple[str, str, int]:
    """Return where a chain stands, which cannot be changed (`nf_tables_updchain`,
    net/netfilter/nf_tables_api.c v6.12).
    """
    return chain.type, chain.hook, chain.priority
