"""Readings of nft of one network namespace to its native tables.

Tables that iptables-nft owns stand in the listing, too: where an output of iptables shows one, it
is left to that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from podpath.assembly.scenes.labels import StateLikelihood, judge_source
from podpath.evidence.nft.records import (
    NftChainRecord,
    NftListingRecord,
    NftRuleRecord,
    NftSetRecord,
    NftTableRecord,
)
from podpath.evidence.records import Reading
from podpath.net import nft
from podpath.net.addresses import Family
from podpath.net.provenance import Gap, GapKind, Listing, Source, Span
from podpath.node.netfilter import Netfilter
from podpath.node.nftables import NftChain, NftRule, NftSet, NftTable
from podpath.node.nftables_text import emit_rule

ASK = "nft -a list ruleset"
_FAMILIES: Mapping[str, Family] = {"ip": 4, "ip6": 6}
TableKey = tuple[str, str]
_FLAGS = frozenset({"dormant", "owner", "persist"})
"""Those that a table may have (nft(8))."""
_HEX = re.compile(r"\b0x[0-9a-fA-F]+")
_COUNTED = re.compile(r" packets \d+ bytes \d+")


class NftablesAssembly(NamedTuple):
    """The native tables of one namespace."""

    listing: Listing[NftTable]
    gaps: tuple[Gap, ...]


@dataclass(slots=True)
class _TableDraft:
    """A table under construction."""

    record: NftTableRecord
    chains: dict[str, NftChainRecord] = field(default_factory=dict)
    rules: dict[str, list[NftRuleRecord]] = field(default_factory=dict)
    sets: dict[str, NftSet] = field(default_factory=dict)
    objects: list[str] = field(default_factory=list)
    whole: bool = True


def assemble_nftables(
    readings: Iterable[tuple[Source, Reading]], netfilter: Mapping[Family, Netfilter]
) -> NftablesAssembly:
    """Return the native tables that the evidence shows for the time of the failure, each as the
    first output shows it.
    """
    tables: dict[TableKey, NftTable] = {}
    gaps: list[Gap] = []
    span: Span | None = None
    complete = False
    for reading, listing in _choose_listings(readings):
        span = span or listing.span
        complete = complete or (listing.scope == "ruleset" and listing.whole)
        for key, listed in _assemble_tables(reading, listing).items():
            table = _without_owned(key, listed, netfilter)
            if table is not None:
                gaps += _add_table(tables, key, table)
    own = tuple(tables.values())
    for table in own:
        gaps += _unread_statements(table)
    return NftablesAssembly(Listing(own, complete, ASK, span), tuple(gaps))


def _choose_listings(
    readings: Iterable[tuple[Source, Reading]],
) -> list[tuple[Reading, NftListingRecord]]:
    """Return the listings of this host that are nearest to the failure, the most telling first."""
    shown: list[tuple[Source, Reading, NftListingRecord]] = []
    for source, reading in readings:
        listing = _listing_of(reading)
        if listing is not None and judge_source(source) is not StateLikelihood.ELSEWHERE:
            shown.append((source, reading, listing))
    # text has a line for each rule, and the devices of ingress chains, which JSON of nft 1.0 leaves
    # out
    shown.sort(key=lambda item: _is_json(item[0]))
    plain = [item for item in shown if judge_source(item[0]) <= StateLikelihood.PLAIN]
    return [(reading, listing) for _, reading, listing in plain or shown]


def _is_json(source: Source) -> bool:
    return any(line.lstrip().startswith("{") for line in source.lines[:1])


def _add_table(tables: dict[TableKey, NftTable], key: TableKey, table: NftTable) -> tuple[Gap, ...]:
    """Put a table to the others: of two that outputs show of one name, the richer; give what is
    passed over so.
    """
    known = tables.setdefault(key, table)
    if known is table:
        return ()
    poorer = known
    if _richness(table) > _richness(known):
        tables[key] = table
    else:
        poorer = table
    if _same(known, table) or _unread_count(poorer) or poorer.span is None or not poorer.complete:
        return ()
    why = f"another output shows another table {key[0]} {key[1]}: this one is passed over"
    return (Gap(poorer.span, why),)


def _listing_of(reading: Reading) -> NftListingRecord | None:
    return next(iter(reading.of(NftListingRecord)), None)


def _without_owned(
    key: TableKey, table: NftTable, netfilter: Mapping[Family, Netfilter]
) -> NftTable | None:
    """Return the table without the base chains that iptables' own output shows already; None where
    no other is left.

    A table of one of iptables' names may hold base chains of somebody else, which iptables only
    says that there are.
    """
    family = _FAMILIES.get(key[0])
    tables = netfilter[family].tables if family is not None and family in netfilter else ()
    shown = {
        name
        for other in tables
        if other.flavour == "nft" and other.name == key[1]
        for name in other.chains
    }
    if not shown:
        return table
    own = {
        name: chain for name, chain in table.chains.items() if not (chain.is_base and name in shown)
    }
    if any(chain.is_base for chain in own.values()):
        return replace(table, chains=own)
    return None


def _assemble_tables(reading: Reading, listing: NftListingRecord) -> dict[TableKey, NftTable]:
    drafts: dict[TableKey, _TableDraft] = {}
    for record in reading.records:
        match record:
            case NftTableRecord():
                draft = drafts.setdefault((record.family, record.name), _TableDraft(record))
                draft.objects += record.objects
            case NftChainRecord():
                _draft_of(drafts, record).chains.setdefault(record.name, record)
            case NftRuleRecord():
                _draft_of(drafts, record).rules.setdefault(record.chain, []).append(record)
            case NftSetRecord():
                _draft_of(drafts, record).sets[record.name] = assemble_set(record)
            case _:
                pass
    whole = listing.whole and listing.scope in {"ruleset", "table", "tables"} and not reading.gaps
    shown = listing.scope in {"ruleset", "table", "tables", "chain"}
    return {key: _finish(draft, whole=whole, shown=shown) for key, draft in drafts.items()}


def _draft_of(
    drafts: dict[TableKey, _TableDraft], record: NftChainRecord | NftRuleRecord | NftSetRecord
) -> _TableDraft:
    empty = NftTableRecord(span=record.span, family=record.family, name=record.table)
    return drafts.setdefault((record.family, record.table), _TableDraft(empty))


def assemble_set(record: NftSetRecord) -> NftSet:
    """Return the set of a record."""
    return NftSet(
        name=record.name,
        types=record.types,
        elements=record.elements,
        data=record.data,
        flags=record.flags,
        options=record.options,
        typeof=record.typeof,
        span=record.span,
    )


def _finish(draft: _TableDraft, *, whole: bool, shown: bool) -> NftTable:
    record = draft.record
    names = [*draft.chains, *(name for name in draft.rules if name not in draft.chains)]
    chains = {
        name: _assemble_chain(name, draft.chains.get(name), draft.rules.get(name, []), shown=shown)
        for name in names
    }
    return NftTable(
        family=record.family,
        name=record.name,
        chains=chains,
        sets=draft.sets,
        objects=tuple(draft.objects),
        dormant="dormant" in record.flags,
        unread_flags=tuple(flag for flag in record.flags if flag not in _FLAGS),
        complete=whole,
        span=record.span,
    )


def place_rules(rules: Iterable[NftRuleRecord]) -> tuple[NftRule, ...]:
    """Return the rules of a chain, numbered in their order."""
    return tuple(_place_rule(rule, position) for position, rule in enumerate(rules, 1))


def _place_rule(rule: NftRuleRecord, position: int) -> NftRule:
    return NftRule(
        family=rule.family,
        table=rule.table,
        chain=rule.chain,
        position=position,
        span=rule.span,
        statements=rule.statements,
        handle=rule.handle,
        comment=rule.comment,
        unread=rule.unread,
    )


def _assemble_chain(
    name: str, record: NftChainRecord | None, rules: list[NftRuleRecord], *, shown: bool
) -> NftChain:
    placed = place_rules(rules)
    if record is None:
        return NftChain(name=name, rules=placed, complete=False, in_line=0)
    return NftChain(
        name=name,
        rules=placed,
        type=record.type,
        hook=record.hook,
        priority=record.priority,
        policy=record.policy,
        devices=record.devices,
        complete=record.whole and shown,
        in_line=record.in_line if shown else 0,
        span=record.span,
    )


def _richness(table: NftTable) -> tuple[bool, int, int, int]:
    """Order outputs of one table: a whole one before a part, then the one of which more is
    understood, then the longer one.

    Text has the devices of ingress chains, which JSON of nft 1.0 leaves out; JSON has what a
    version's text abbreviates.
    """
    devices = sum(len(chain.devices) for chain in table.chains.values())
    return (
        table.complete,
        -_unread_count(table),
        devices,
        sum(len(chain.rules) for chain in table.chains.values()),
    )


def _unread_count(table: NftTable) -> int:
    """Count the statements of a table that were not understood."""
    count = 0
    for chain in table.chains.values():
        for rule in chain.rules:
            count += sum(isinstance(each, nft.OpaqueStatement) for each in rule.statements)
    return count


def _same(one: NftTable, other: NftTable) -> bool:
    """Tell whether two outputs show the same table, whatever they count."""
    return _rules(one) == _rules(other)


def _rules(table: NftTable) -> object:
    """Return the rules in a spelling that text and JSON share: JSON has numbers in decimal, and
    names what text leaves out.
    """
    spelled: dict[str, list[str]] = {}
    for name, chain in table.chains.items():
        spelled[name] = [_plain(emit_rule(rule)) for rule in chain.rules]
    return spelled


def _plain(text: str) -> str:
    text = _HEX.sub(lambda found: str(int(found[0], 16)), text)
    return _COUNTED.sub("", text).replace(" with icmp port-unreachable", "").replace(" | ", ",")


def _unread_statements(table: NftTable) -> Iterable[Gap]:
    for chain in table.chains.values():
        for rule in chain.rules:
            for statement in rule.statements:
                if isinstance(statement, nft.OpaqueStatement):
                    yield Gap(
                        rule.span, f"not modeled: {statement.text}", kind=GapKind.NOT_MODELLED
                    )
