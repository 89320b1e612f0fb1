"""A case that differs, made as small as it can be: parts are taken away as long as the difference
stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from podpath.net.provenance import Known
from podpath.node.netfilter import Netfilter, Table
from podpath.node.node import Netns, Node
from podpath_lab.cases.generate import GeneratedCase


def shrink_case(
    case: GeneratedCase, differs: Callable[[GeneratedCase], bool], attempts: int = 150
) -> GeneratedCase:
    """Return the smallest case that still differs, found in at most that many runs."""
    smallest = case
    found = True
    while found and attempts > 0:
        found = False
        for node in _smaller_nodes(smallest.node):
            attempts -= 1
            candidate = replace(smallest, node=node)
            if differs(candidate):
                smallest, found = candidate, True
                break
            if attempts <= 0:
                break
    return smallest


def _smaller_nodes(node: Node) -> Iterator[Node]:
    """Yield the node without each single thing that can be taken away, the largest first."""
    for name, netns in node.namespaces.items():
        for smaller in _smaller_namespaces(netns):
            yield replace(node, namespaces={**node.namespaces, name: smaller})


def _smaller_namespaces(netns: Netns) -> Iterator[Netns]:
    for family, netfilter in netns.netfilter.items():
        for smaller in _smaller_rulesets(netfilter):
            yield replace(netns, netfilter={**netns.netfilter, family: smaller})
    for rule in netns.rules.items:
        if not rule.inferred:
            kept = tuple(other for other in netns.rules.items if other is not rule)
            yield replace(netns, rules=netns.rules._replace(items=kept))
    for route in netns.routes.items:
        if not route.inferred:
            ways = tuple(other for other in netns.routes.items if other is not route)
            yield replace(netns, routes=netns.routes._replace(items=ways))
    for key in netns.sysctls:
        if key.endswith(".send_redirects") or key.startswith("net.bridge."):
            # where it is not set, the kernel's default is another than the model takes an absent
            # key for
            continue
        yield replace(
            netns, sysctls={other: fact for other, fact in netns.sysctls.items() if other != key}
        )


def _smaller_rulesets(netfilter: Netfilter) -> Iterator[Netfilter]:
    for table in netfilter.tables:
        yield replace(
            netfilter, tables=tuple(other for other in netfilter.tables if other is not table)
        )
    for index, table in enumerate(netfilter.tables):
        for smaller in _smaller_tables(table):
            yield replace(
                netfilter,
                tables=(*netfilter.tables[:index], smaller, *netfilter.tables[index + 1 :]),
            )


def _smaller_tables(table: Table) -> Iterator[Table]:
    for name, fact in table.chains.items():
        if isinstance(fact, Known):
            for position in range(len(fact.value.rules)):
                rules = [
                    rule for rule in fact.value.rules if rule is not fact.value.rules[position]
                ]
                placed = tuple(
                    rule._replace(position=number) for number, rule in enumerate(rules, 1)
                )
                yield replace(
                    table, chains={**table.chains, name: Known(replace(fact.value, rules=placed))}
                )
