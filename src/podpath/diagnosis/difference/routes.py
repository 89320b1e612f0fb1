"""What is routed otherwise on another node: routes and policy rules."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from podpath.checks.links.enslaved_route import spell_route
from podpath.diagnosis.difference.difference import (
    Difference,
    OnOneNode,
    inside,
    paired_namespaces,
    spans_of,
    tell_owner,
    unpaired,
)
from podpath.node.change import AddPolicyRule, AddRoute, Change, DeletePolicyRule, DeleteRoute
from podpath.node.node import Node
from podpath.node.routing import MAIN, PolicyRule, Route


def compare_routing(bad: Node, good: Node) -> Iterator[Difference]:
    """Compare routes and policy rules: what only one of the nodes has, or has in another way."""
    for here, there in paired_namespaces(bad, good):
        found = unpaired(
            here.routes, there.routes, _route_identity, lambda route: route.prefix.family
        )
        routes = [(route, taken) for route, taken in found if not _follows_address(route)]
        extra = [route for route, taken in routes if not taken]
        for route in (route for route, taken in routes if taken):
            same = next(
                (mine for mine in extra if (mine.prefix, mine.table, mine.metric) == _key(route)),
                None,
            )
            if same is not None:
                extra.remove(same)
            yield _route(here.name, same, route)
        for route in extra:
            yield _route(here.name, route, None)
        for rule, taken in unpaired(
            here.rules, there.rules, _rule_identity, lambda rule: rule.family
        ):
            yield _policy_rule(here.name, rule, taken=taken)


def _route(netns: str, mine: Route | None, theirs: Route | None) -> Difference:
    """Tell of a route that only one node has, or that both have in different ways."""
    changes: list[Change] = []
    commands: list[str] = []
    if mine is not None:
        changes.append(DeleteRoute(netns=netns, route=mine))
        commands.append(inside(netns, f"ip route del {_spell(mine)}"))
    if theirs is not None:
        changes.append(AddRoute(netns=netns, route=theirs))
        commands.append(inside(netns, f"ip route add {_spell(theirs)}"))
    if mine is not None and theirs is not None:
        words = f"the route {_spell(mine)} is {_spell(theirs)} where it works"
    else:
        words = f"the route {_spell(mine or theirs)} {tell_owner(taken=mine is None)}"
    return Difference(
        kind="route",
        netns=netns,
        words=words,
        here=spans_of(mine.span if mine else None),
        there=spans_of(theirs.span if theirs else None),
        commands=tuple(commands),
        changes=tuple(changes),
    )


def _follows_address(route: Route) -> bool:
    """Tell whether the kernel made the route with an address, so that the address is what
    differs.
    """
    return (
        route.protocol == "kernel"
        or bool(route.inferred)
        or route.type in ("broadcast", "multicast", "anycast")
    )


def _spell(route: Route | None) -> str:
    if route is None:
        return ""
    return ("" if route.type == "unicast" else f"{route.type} ") + spell_route(route)


def _policy_rule(netns: str, rule: PolicyRule, *, taken: bool) -> Difference:
    words = [f"priority {rule.priority}"]
    named = {"from": rule.src, "to": rule.dst, "iif": rule.iif, "oif": rule.oif}
    words += [f"{name} {value}" for name, value in named.items() if value is not None]
    if rule.mark:
        words.append(f"fwmark {rule.mark}")
    table = "main" if rule.table == MAIN else rule.table
    words.append(f"lookup {table}" if rule.action == "lookup" else rule.action)
    spelled = " ".join(words)
    change: Change = (
        AddPolicyRule(netns=netns, rule=rule) if taken else DeletePolicyRule(netns=netns, rule=rule)
    )
    one = OnOneNode(
        kind="policy rule",
        netns=netns,
        spelled=spelled,
        command="ip rule" if rule.family == 4 else "ip -6 rule",
        span=rule.span,
        taken=taken,
    )
    return one.tell(change)


def _route_identity(route: Route) -> Hashable:
    return replace(
        route,
        span=None,
        inferred=None,
        protocol="",
        nexthops=tuple(sorted(route.nexthops, key=repr)),
    )


def _rule_identity(rule: PolicyRule) -> Hashable:
    return replace(rule, span=None, inferred=None)


def _key(route: Route) -> tuple[object, ...]:
    return route.prefix, route.table, route.metric
