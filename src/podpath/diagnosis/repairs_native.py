"""Repairs of native nftables: the rule of nobody's program that drops goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.cause import Cause
from podpath.checks.finding import Repair
from podpath.checks.owners import owner_of_rule
from podpath.node.change import PutNftTable
from podpath.node.nftables import NftRule, NftTable
from podpath.node.node import Node


def delete_rule(node: Node, cause: Cause) -> Iterator[Repair]:
    """Take the deciding rule away, where its handle is known and no program owns its table: what
    one owns it would write again.
    """
    rule = _find_rule(cause)
    if rule is None or rule.handle is None or owner_of_rule(rule) is not None:
        return
    for table in node.namespaces[cause.step.netns].nftables.items:
        if (table.family, table.name) == (rule.family, rule.table):
            yield Repair(
                title=f"delete rule {rule.position} of {rule.place}",
                commands=(f"nft delete rule {rule.place} handle {rule.handle}",),
                changes=(PutNftTable(netns=cause.step.netns, table=_without(table, rule)),),
            )


def _find_rule(cause: Cause) -> NftRule | None:
    """Return the native rule that decided: the last that matched, if the step quotes it."""
    hits = [hit.rule for hit in cause.trace.matched if isinstance(hit.rule, NftRule)]
    decided = hits[-1] if hits else None
    return decided if decided is not None and decided.span in cause.step.spans[:1] else None


def _without(table: NftTable, rule: NftRule) -> NftTable:
    chain = table.chains[rule.chain]
    kept = tuple(each for each in chain.rules if each.handle != rule.handle)
    numbered = tuple(each._replace(position=place) for place, each in enumerate(kept, 1))
    return replace(table, chains={**table.chains, chain.name: replace(chain, rules=numbered)})
