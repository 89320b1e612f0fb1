"""A file for `iptables-restore` to the tables that a namespace has after it.

What becomes of a table was seen on the kernel with iptables 1.8.9. Without `--noflush` its chains
are those of the file; a base chain that the file does not name is empty, and its policy is ACCEPT
where iptables-nft wrote it and stays where the legacy program did. With `--noflush` a user chain
that the file declares is emptied, a base chain only takes its policy, and rules are appended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from podpath.assembly.netfilter.chains import assemble_chain
from podpath.evidence.iptables.options import TARGETS, VERDICTS
from podpath.evidence.iptables.ruleset import RulesetRecord
from podpath.net.addresses import Family
from podpath.net.provenance import Fact, Gap, Known
from podpath.node.change import PutTable
from podpath.node.netfilter import Chain, Rule, Table
from podpath.node.node import Netns
from podpath.xtables.legality import BASE_CHAINS


def assemble_tables(
    records: Iterable[RulesetRecord], namespace: Netns, flavour: str | None, *, noflush: bool
) -> tuple[tuple[PutTable, ...], tuple[Gap, ...]]:
    """Return the tables after a file, and what of it cannot be taken over."""
    changes: list[PutTable] = []
    gaps: list[Gap] = []
    for record in records:
        if record.table is None or record.table not in BASE_CHAINS:
            gaps.append(Gap(record.span, "expected rules below a line `*TABLE`"))
            continue
        kind = flavour or _judge_flavour(namespace, record.family) or record.flavour or "nft"
        held = _find_table(namespace, record.family, record.table, kind)
        if held is None and noflush and not _is_listed(namespace, record.family):
            gaps.append(Gap(record.span, f"no output shows table {record.table} as it is"))
            continue
        chains, refused = _merge(record, held, kind, noflush=noflush)
        gaps += refused
        table = Table(
            name=record.table,
            family=record.family,
            flavour=kind,
            chains=chains,
            complete=not noflush or held is None or held.complete,
            span=record.span,
        )
        changes.append(PutTable(netns=namespace.name, table=table))
    return tuple(changes), tuple(gaps)


def _judge_flavour(namespace: Netns, family: Family) -> str | None:
    """Return the flavor of the tables that are there; None where there are none or both."""
    held = namespace.netfilter.get(family)
    found = {table.flavour for table in held.tables} if held is not None else set()
    return next(iter(found)) if len(found) == 1 else None


def _is_listed(namespace: Netns, family: Family) -> bool:
    held = namespace.netfilter.get(family)
    return held is not None and held.complete


def _find_table(namespace: Netns, family: Family, name: str, flavour: str) -> Table | None:
    held = namespace.netfilter.get(family)
    tables = held.tables if held is not None else ()
    return next((one for one in tables if (one.name, one.flavour) == (name, flavour)), None)


def _merge(
    record: RulesetRecord, held: Table | None, flavour: str, *, noflush: bool
) -> tuple[Mapping[str, Fact[Chain]], list[Gap]]:
    name = record.table or ""
    before: Mapping[str, Fact[Chain]] = held.chains if held is not None else {}
    after: dict[str, Fact[Chain]] = dict(before) if noflush else {}
    for base in BASE_CHAINS[name]:
        if base not in after:
            policy = _policy(before.get(base)) if flavour == "legacy" else "ACCEPT"
            after[base] = Known(Chain(name=base, rules=(), policy=policy), record.span)
    gaps: list[Gap] = []
    for chain, text in record.chains.items():
        read = assemble_chain(text, name, flavour)
        old = after.get(chain)
        if old is not None and not isinstance(old, Known):
            gaps.append(Gap(record.span, f"outputs disagree about chain {chain}"))
            continue
        if chain not in BASE_CHAINS[name] and text.span is None and old is None:
            gaps.append(Gap(record.span, f"iptables-restore refuses it: there is no chain {chain}"))
        after[chain] = Known(_lay_over(read, old, text.span is not None, noflush), read.span)
    gaps += _find_unknown_targets(after, record)
    return after, gaps


def _lay_over(read: Chain, old: Known[Chain] | None, declared: bool, noflush: bool) -> Chain:  # noqa: FBT001
    """Return a chain after the file: appended to what stays, its policy kept where it names
    none.
    """
    stays = noflush and old is not None and (read.policy is not None or not declared)
    kept: tuple[Rule, ...] = tuple(old.value.rules) if stays and old is not None else ()
    rules = tuple(
        rule if rule.position == place else rule._replace(position=place)
        for place, rule in enumerate((*kept, *read.rules), 1)
    )
    whole = not stays or old is None or old.value.complete
    policy = read.policy or (old.value.policy if old is not None else None)
    in_line = old.value.in_line if stays and old is not None else None
    return replace(read, rules=rules, policy=policy, complete=whole, in_line=in_line)


def _policy(old: Fact[Chain] | None) -> str:
    found = old.value.policy if isinstance(old, Known) else None
    return found or "ACCEPT"


def _find_unknown_targets(
    chains: Mapping[str, Fact[Chain]], record: RulesetRecord
) -> Iterator[Gap]:
    """Yield the rules of the file that lead to no chain and no target: the file is refused."""
    source = record.span.source
    for fact in chains.values():
        for rule in fact.value.rules if isinstance(fact, Known) else ():
            name = rule.target.name if rule.target is not None else ""
            if rule.span.source is not source or not name:
                continue
            if rule.unread:
                yield Gap(rule.span, rule.unread)
            elif name not in chains and name not in TARGETS and name not in VERDICTS:
                yield Gap(rule.span, f"iptables-restore refuses it: there is no chain {name}")
