"""All that differs between two nodes, and one node with some of it taken over from the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from podpath.diagnosis.difference.chains import merge_chains
from podpath.diagnosis.difference.difference import ChainPlace, Difference
from podpath.diagnosis.difference.links import compare_links
from podpath.diagnosis.difference.netfilter import compare_netfilter
from podpath.diagnosis.difference.routes import compare_routing
from podpath.diagnosis.difference.settings import compare_settings
from podpath.net.provenance import Known
from podpath.node.alteration import apply_changes
from podpath.node.change import Change, PutChain
from podpath.node.netfilter import Chain, Rule
from podpath.node.node import Node


def compare_nodes(bad: Node, good: Node) -> tuple[Difference, ...]:
    """Return every fact that both nodes' evidence states, and states otherwise."""
    return (
        *compare_settings(bad, good),
        *compare_netfilter(bad, good),
        *compare_routing(bad, good),
        *compare_links(bad, good),
    )


def take_over(node: Node, taken: Iterable[Difference]) -> Node:
    """Return the node with some differences as they are on the other one."""
    taken = tuple(taken)
    chains: dict[ChainPlace, list[Difference]] = {}
    for difference in taken:
        if difference.place is not None:
            chains.setdefault(difference.place, []).append(difference)
    changes = [change for place, rules in chains.items() for change in _put_rules(place, rules)]
    return apply_changes(
        node, (*changes, *(change for difference in taken for change in difference.changes))
    )


def _put_rules(place: ChainPlace, rules: Iterable[Difference]) -> Iterator[Change]:
    """Put a chain that has some rules of the other node, and the chains that these call and this
    node lacks.
    """
    merged = merge_chains(
        place.here, place.there, [each.rule for each in rules if each.rule is not None]
    )
    for chain in (merged, *_called(place, merged.rules, {place.here.name})):
        yield PutChain(
            netns=place.netns,
            family=place.family,
            flavour=place.flavour,
            table=place.table,
            chain=chain,
        )


def _called(place: ChainPlace, rules: Iterable[Rule], seen: set[str]) -> Iterator[Chain]:
    """Yield the chains of the other node that rules go to, at any depth, and that this node does
    not have.
    """
    for rule in rules:
        name = rule.target.name if rule.target is not None else ""
        fact = place.theirs.chains.get(name)
        if name in seen or fact is None or (place.ours is not None and name in place.ours.chains):
            continue
        seen.add(name)
        if isinstance(fact, Known):
            yield fact.value
            yield from _called(place, fact.value.rules, seen)
