"""Commands that change routes and policy rules to changes of a namespace, as the kernel takes them
one after the other (`fib_table_insert`, `fib_table_delete`, net/ipv4/fib_trie.c v6.12;
`fib_nl_newrule`, net/core/fib_rules.c v6.12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from podpath.assembly.routing.policy_rules import make_rule
from podpath.assembly.routing.routes import make_route
from podpath.assembly.routing.tables import TableNumbers
from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.planned.commands import RouteCommandRecord, RuleCommandRecord
from podpath.net.addresses import Address, IfName
from podpath.net.provenance import Gap, Span
from podpath.node.alteration import apply_change
from podpath.node.change import AddPolicyRule, AddRoute, Change, DeletePolicyRule, DeleteRoute
from podpath.node.node import Netns, Node
from podpath.node.routing import MAIN, TABLES, Nexthop, PolicyRule, Route


def assemble_routing(
    records: Iterable[RouteCommandRecord | RuleCommandRecord],
    node: Node,
    netns: str,
) -> tuple[tuple[tuple[Change, Span], ...], tuple[Gap, ...]]:
    """Return what commands change in their order, each with its line, and those that the kernel
    would refuse.
    """
    changes: list[tuple[Change, Span]] = []
    gaps: list[Gap] = []
    tables = TableNumbers(ReadSources(scenes=()))
    for record in records:
        namespace = node.namespaces[netns]
        try:
            _demand_number(record)
            if isinstance(record, RouteCommandRecord):
                made = list(_change_routes(record, namespace, tables))
            else:
                made = list(_change_rules(record, namespace, tables))
        except ValueError as error:
            gaps.append(Gap(record.span, str(error)))
            continue
        for change in made:
            node = apply_change(node, change)
        changes += [(change, record.span) for change in made]
    return tuple(changes), tuple(gaps)


def _demand_number(record: RouteCommandRecord | RuleCommandRecord) -> None:
    """Refuse a table's own name: which number it stands for is in a file of the node's."""
    table = record.route.table if isinstance(record, RouteCommandRecord) else record.rule.table
    if table is not None and table not in TABLES and not table.isdecimal():
        raise ValueError(f"expected the number of table {table!r} (/etc/iproute2/rt_tables)")


def _change_routes(
    record: RouteCommandRecord, namespace: Netns, tables: TableNumbers
) -> Iterator[Change]:
    wanted = make_route(record.route, tables)
    name = namespace.name
    if record.verb == "delete":
        yield DeleteRoute(netns=name, route=_find_deleted(record, wanted, namespace))
        return
    wanted = _complete(wanted, namespace)
    key = (wanted.table, wanted.prefix, wanted.tos, _metric(wanted))
    alike = [
        route
        for route in namespace.routes.items
        if (route.table, route.prefix, route.tos, route.metric) == key
    ]
    if record.verb == "add" and alike:
        raise ValueError("the kernel refuses it: the route exists (File exists)")
    if record.verb == "change" and not alike:
        raise ValueError("the kernel refuses it: there is no such route")
    if record.verb in {"replace", "change"} and alike:
        yield DeleteRoute(netns=name, route=alike[0])
    yield AddRoute(netns=name, route=replace(wanted, metric=_metric(wanted)))


def _metric(route: Route) -> int:
    """Return a route's metric: IPv6 has 1024 where none is given (IP6_RT_PRIO_USER)."""
    return route.metric or (1024 if route.prefix.family == 6 else 0)


def _complete(route: Route, namespace: Netns) -> Route:
    """Find the device behind a gateway, as `fib_check_nh` (net/ipv4/fib_semantics.c v6.12) does."""
    hops = tuple(_complete_hop(hop, namespace) for hop in route.nexthops)
    links = {link.name for link in namespace.links.items}
    for hop in hops:
        if namespace.links.complete and hop.link is not None and hop.link not in links:
            raise ValueError(f"the kernel refuses it: there is no device {hop.link}")
    protocol = route.protocol or "boot"
    return replace(route, nexthops=hops, protocol=protocol)


def _list_direct(gateway: Address, namespace: Netns) -> Iterator[tuple[int, IfName | None]]:
    """Yield the devices on whose networks a gateway is, with the length of the route that says
    so.
    """
    for route in namespace.routes.items:
        if route.table != MAIN or route.type != "unicast" or not route.prefix.covers(gateway):
            continue
        for way in route.nexthops:
            if way.gateway is None:
                yield route.prefix.length, way.link


def _complete_hop(hop: Nexthop, namespace: Netns) -> Nexthop:
    gateway = hop.gateway
    if gateway is None or hop.onlink or (hop.link is not None and gateway.is_link_local):
        return hop
    direct = [found for found in _list_direct(gateway, namespace) if hop.link in {None, found[1]}]
    if direct:
        return replace(hop, link=max(direct, key=lambda found: found[0])[1])
    if namespace.routes.complete:
        raise ValueError(f"the kernel refuses it: gateway {gateway} is on no link")
    if hop.link is None:
        raise ValueError(f"no output shows the device that leads to {gateway}")
    return hop


def _find_deleted(record: RouteCommandRecord, wanted: Route, namespace: Netns) -> Route:
    """Return the first route that the words of a command fit."""
    said = record.route
    for route in namespace.routes.items:
        if (route.table, route.prefix) != (wanted.table, wanted.prefix):
            continue
        fits = (
            said.metric in {None, route.metric}
            and said.type in {None, route.type}
            and said.protocol in {None, route.protocol}
            and said.scope in {None, route.scope}
            and said.prefsrc in {None, route.prefsrc}
            and (said.tos or 0) == route.tos
            and _hops_fit(wanted.nexthops, route.nexthops)
        )
        if fits:
            return route
    if namespace.routes.complete:
        raise ValueError("the kernel refuses it: there is no such route (No such process)")
    raise ValueError("no output shows such a route: ip route show table all")


def _hops_fit(wanted: tuple[Nexthop, ...], held: tuple[Nexthop, ...]) -> bool:
    if not wanted:
        return True
    if len(wanted) != len(held):
        return len(wanted) == 1 and any(_hop_fits(wanted[0], hop) for hop in held[:1])
    return all(_hop_fits(one, other) for one, other in zip(wanted, held, strict=True))


def _hop_fits(wanted: Nexthop, held: Nexthop) -> bool:
    return wanted.link in {None, held.link} and wanted.gateway in {None, held.gateway}


def _change_rules(
    record: RuleCommandRecord, namespace: Netns, tables: TableNumbers
) -> Iterator[Change]:
    said = record.rule
    rules = sorted(
        (rule for rule in namespace.rules.items if rule.family == said.family),
        key=lambda rule: rule.priority,
    )
    if record.verb == "add":
        priority = said.priority if said.priority is not None else _next_priority(rules)
        rule = make_rule(said, priority, tables)
        if any(_same(rule, other) for other in rules):
            raise ValueError("the kernel refuses it: the rule exists (File exists)")
        yield AddPolicyRule(netns=namespace.name, rule=rule)
        return
    wanted = make_rule(said, said.priority or 0, tables)
    for rule in rules:
        same_place = said.priority in {None, rule.priority}
        if same_place and _fits(wanted, rule, named=said.action != "any"):
            yield DeletePolicyRule(netns=namespace.name, rule=rule)
            return
    if namespace.rules.complete:
        raise ValueError("the kernel refuses it: there is no such rule")
    raise ValueError("no output shows such a rule: ip rule")


def _next_priority(rules: list[PolicyRule]) -> int:
    """Return the priority that the kernel picks: one before the second rule's
    (`fib_default_rule_pref`).
    """
    if len(rules) > 1 and rules[1].priority:
        return rules[1].priority - 1
    return 0


def _same(one: PolicyRule, other: PolicyRule) -> bool:
    return replace(one, span=None, inferred=None) == replace(other, span=None, inferred=None)


def _fits(wanted: PolicyRule, held: PolicyRule, *, named: bool) -> bool:
    """Tell whether the words of `ip rule del` pick out a rule (`rule_find`)."""
    pairs = (
        (wanted.src, held.src),
        (wanted.dst, held.dst),
        (wanted.iif, held.iif),
        (wanted.oif, held.oif),
        (wanted.mark, held.mark),
        (wanted.protocol, held.protocol),
        (wanted.uids, held.uids),
    )
    if any(said is not None and said != has for said, has in pairs):
        return False
    return not named or (wanted.action, wanted.table) == (held.action, held.table)
