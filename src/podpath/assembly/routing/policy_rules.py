"""Rules of the routing policy database, from `ip rule`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from podpath.assembly.drafts.disputes import Disputes
from podpath.assembly.drafts.draft import ASKS, NodeDraft, ask_in
from podpath.assembly.drafts.listings import ListingSnapshot, merge_snapshots
from podpath.assembly.routing.tables import TableNumbers
from podpath.assembly.scenes.completeness import listed_families, lists_all
from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.node_records import PolicyRuleRecord
from podpath.net.addresses import Family, IfName
from podpath.net.provenance import Span
from podpath.node.routing import DEFAULT_RULES, PolicyRule


def assemble_rules(
    draft: NodeDraft, evidence: ReadSources, disputes: Disputes, tables: TableNumbers
) -> None:
    """Put the policy rules that outputs show into their namespaces; a fragment adds to the three of
    a fresh namespace.
    """
    snapshots: dict[tuple[str, Family], list[ListingSnapshot[PolicyRule]]] = {}
    for scene in evidence.scenes:
        for family, listed in _read_rules(scene, disputes, tables).items():
            snapshots.setdefault((scene.netns, family), []).append(listed)
    for (name, family), listings in snapshots.items():
        fact = f"IPv{family} policy rules in netns {name}"
        merged = merge_snapshots(fact, ask_in(name, ASKS["rule"]), listings, disputes)
        rules = list(merged.items)
        if not merged.whole:
            known = {rule.priority for rule in merged.items}
            rules += (rule for rule in DEFAULT_RULES[family] if rule.priority not in known)
        draft.netns(name).rules.extend(sorted(rules, key=lambda rule: rule.priority))
    for netns in draft.namespaces.values():
        families = {rule.family for rule in netns.rules}
        for family in (4, 6):
            if family not in families:
                netns.rules.extend(DEFAULT_RULES[family])


def _read_rules(
    scene: ReadSource, disputes: Disputes, tables: TableNumbers
) -> dict[Family, ListingSnapshot[PolicyRule]]:
    """Return what one output lists of each family, in its order."""
    found: dict[Family, dict[Hashable, PolicyRule]] = {}
    spans: dict[Family, Span] = {}
    for record in scene.reading.of(PolicyRuleRecord):
        if record.priority is None:
            disputes.gap(record.span, "expected a policy rule with its priority, saw none")
            continue
        rule = make_rule(record, record.priority, tables)
        found.setdefault(record.family, {}).setdefault(replace(rule, span=None), rule)
        spans.setdefault(record.family, record.span)
    snapshots: dict[Family, ListingSnapshot[PolicyRule]] = {}
    for family, rules in found.items():
        whole = lists_all(scene, "rule") and family in listed_families(scene)
        snapshots[family] = ListingSnapshot(rules, whole, spans[family], scene.standing)
    return snapshots


def make_rule(record: PolicyRuleRecord, priority: int, tables: TableNumbers) -> PolicyRule:
    """Return the policy rule of a record."""
    return PolicyRule(
        family=record.family,
        priority=priority,
        negated=record.negated,
        src=record.src,
        dst=record.dst,
        iif=None if record.iif is None else IfName(record.iif),
        oif=None if record.oif is None else IfName(record.oif),
        mark=record.mark,
        tos=record.tos,
        protocol=record.protocol,
        sport=record.sport,
        dport=record.dport,
        uids=record.uids,
        l3mdev=record.l3mdev,
        action=record.action,
        table=tables.number(record.table),
        goto=record.goto,
        suppress_prefixlength=record.suppress_prefixlength,
        unread=record.unread,
        span=record.span,
    )
