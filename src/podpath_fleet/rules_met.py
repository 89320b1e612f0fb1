"""Which rules of iptables the packets of walked connections met, and which none of them did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podpath.datapath.tracing.trace import Branch, RuleHit
from podpath.net.addresses import Family
from podpath.net.provenance import Known, Span
from podpath.net.watched import peek
from podpath.node.netfilter import Rule
from podpath.node.node import Node


class MetRule(NamedTuple):
    """Where a rule stands: a name for it that is the same in every walk."""

    netns: str
    family: Family
    flavour: str
    table: str
    chain: str
    position: int


class WalkNote(NamedTuple):
    """What packets of a walked connection met."""

    met: frozenset[MetRule] = frozenset()
    """Rules of iptables that matched."""
    carried: frozenset[int] = frozenset()
    """Addresses that they had on their way."""


def list_carried(branches: Iterable[Branch]) -> frozenset[int]:
    """Return the addresses that packets of the branches had on their way, answers among them."""
    carried: set[int] = set()
    for branch in branches:
        for trace in (*branch.traces, *branch.answers):
            for step in trace.steps:
                for packet in (step.before, step.after):
                    carried |= {peek(packet.src.value), peek(packet.dst.value)}
    return frozenset(carried)


def list_places(branches: Iterable[Branch]) -> frozenset[MetRule]:
    """Return the places of all rules of iptables that matched a packet of the branches, answers to
    what failed among them.
    """
    found: set[MetRule | None] = set()
    for branch in branches:
        found.update(map(_place, branch.discovery))
        for trace in (*branch.traces, *branch.answers):
            found.update(map(_place, trace.matched))
    return frozenset(place for place in found if place is not None)


def _place(hit: RuleHit) -> MetRule | None:
    rule = hit.rule
    if not isinstance(rule, Rule):
        return None
    return MetRule(hit.netns, hit.family, hit.flavour, rule.table, rule.chain, rule.position)


def list_unmet(node: Node, met: Iterable[MetRule]) -> Iterator[Span]:
    """Yield the lines of rules that are at none of these places, in the order in which they stand;
    chains that outputs disagree about are left out.
    """
    known = frozenset(met)
    for name, netns in node.namespaces.items():
        for table in netns.tables:
            for chain in table.chains.values():
                if not isinstance(chain, Known):
                    continue
                head = (name, table.family, table.flavour, table.name, chain.value.name)
                for rule in chain.value.rules:
                    if MetRule(*head, rule.position) not in known:
                        yield rule.span
