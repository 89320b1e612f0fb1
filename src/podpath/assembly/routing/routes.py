"""Routes of all tables, from `ip route` and `route -n`, in the state in which things failed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from podpath.assembly.drafts.disputes import Disputes
from podpath.assembly.drafts.draft import ASKS, NodeDraft, ask_in
from podpath.assembly.drafts.listings import Items, ListingCommand, ListingSnapshot, merge_snapshots
from podpath.assembly.routing.tables import TableNumbers
from podpath.assembly.scenes.change_commands import Effect, RouteChange
from podpath.assembly.scenes.completeness import listed_families, listed_tables
from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.node_records import NexthopRecord, RouteRecord
from podpath.net.addresses import Family, IfName
from podpath.net.provenance import Basis, Inferred, Span
from podpath.node.routing import LOCAL, MAIN, Nexthop, Route

_Key = tuple[str, Family, int]


def assemble_routes(
    draft: NodeDraft,
    evidence: ReadSources,
    disputes: Disputes,
    tables: TableNumbers,
    effects: tuple[Effect, ...],
) -> None:
    """Put the routes that outputs show into their namespaces."""
    snapshots: dict[_Key, list[ListingSnapshot[Route]]] = {}
    for scene in evidence.scenes:
        for key, snapshot in _read_scene(scene, tables):
            snapshots.setdefault(key, []).append(snapshot)
    turns: dict[_Key, list[ListingCommand[Route]]] = {}
    for effect in effects:
        if isinstance(effect, RouteChange):
            key = (effect.netns, effect.prefix.family, tables.number(effect.table))
            turns.setdefault(key, []).append(_make_turn(effect, key[2]))
    for key, shown in snapshots.items():
        name, family, table = key
        fact = f"IPv{family} routes of table {tables.name(table)} in netns {name}"
        merged = merge_snapshots(
            fact, ask_in(name, ASKS["route"]), shown, disputes, turns.get(key, ())
        )
        netns = draft.netns(name)
        netns.routes.extend(merged.items)
        if merged.whole:
            netns.whole_tables.add((family, table))


def _read_scene(
    scene: ReadSource, tables: TableNumbers
) -> Iterator[tuple[_Key, ListingSnapshot[Route]]]:
    """Yield the routes that the scene shows, by family and table, and whether each table is whole
    in it.
    """
    found: dict[tuple[Family, int], dict[Hashable, Route]] = {}
    span = None
    for record in scene.reading.records:
        if isinstance(record, RouteRecord):
            route = make_route(record, tables)
            span = span or record.span
            found.setdefault((record.prefix.family, route.table), {}).setdefault(
                key_of(route), route
            )
    whole = listed_tables(scene)
    if span is None:
        if not whole:
            return
        span = Span(scene.source, scene.source.first_line, scene.source.first_line)
    families = listed_families(scene)
    if "all" in whole:
        for family in families:
            found.setdefault((family, MAIN), {})
    for (family, table), routes in found.items():
        lists = family in families and (
            "all" in whole or table in {tables.number(name) for name in whole}
        )
        yield (scene.netns, family, table), ListingSnapshot(routes, lists, span, scene.standing)


def key_of(route: Route) -> Hashable:
    """Return what makes two lines the same route: what the kernel's FIB tells apart, as far as
    every output shows it.
    """
    ways = frozenset((hop.link, hop.gateway) for hop in route.nexthops)
    return route.table, route.prefix, route.tos, route.metric, route.type, ways


def make_route(record: RouteRecord, tables: TableNumbers) -> Route:
    """Return the route of a line; what the line leaves out has the value that its command leaves
    out.
    """
    kind = record.type or "unicast"
    nexthops = tuple(_make_nexthop(hop, record.flags) for hop in record.nexthops)
    if record.table is None and kind in {"local", "broadcast"}:
        table = LOCAL
    else:
        table = tables.number(record.table)
    return Route(
        prefix=record.prefix,
        type=kind,
        nexthops=nexthops,
        table=table,
        metric=record.metric or 0,
        prefsrc=record.prefsrc,
        scope=record.scope or _default_scope(kind, nexthops),
        protocol=record.protocol or "",
        tos=record.tos or 0,
        mtu=record.mtu,
        mtu_locked=record.mtu_locked,
        advmss=record.advmss,
        unread=record.unread,
        span=record.span,
    )


def _default_scope(kind: str, nexthops: tuple[Nexthop, ...]) -> str:
    """Return the scope that iproute2 would set (ip/iproute.c:iproute_modify), since `ip route`
    leaves `global` out.
    """
    if kind in {"local", "nat"}:
        return "host"
    if kind in {"broadcast", "multicast", "anycast"}:
        return "link"
    direct = kind == "unicast" and bool(nexthops) and all(hop.gateway is None for hop in nexthops)
    return "link" if direct else "global"


def _make_nexthop(hop: NexthopRecord, flags: tuple[str, ...]) -> Nexthop:
    all_flags = {*hop.flags, *flags}
    return Nexthop(
        link=None if hop.link is None else IfName(hop.link),
        gateway=hop.gateway,
        weight=hop.weight or 1,
        onlink="onlink" in all_flags,
        dead="dead" in all_flags,
        linkdown="linkdown" in all_flags,
    )


def _make_turn(change: RouteChange, table: int) -> ListingCommand[Route]:
    def without(routes: Items[Route]) -> Items[Route]:
        return {key: route for key, route in routes.items() if not _names(change, route)}

    def having(routes: Items[Route]) -> Items[Route]:
        if any(_names(change, route) for route in routes.values()):
            return routes
        route = _implied_route(change, table)
        return {**routes, key_of(route): route}

    return ListingCommand(
        change.span,
        change.command,
        having if change.added else without,
        without if change.added else having,
    )


def _names(change: RouteChange, route: Route) -> bool:
    """Tell whether a command's words pick out this route, as the kernel's `fib_table_delete`
    compares them.
    """
    ways = route.nexthops or (Nexthop(),)
    return (
        route.prefix == change.prefix
        and (change.metric is None or route.metric == change.metric)
        and any(
            (change.link in {None, hop.link}) and (change.gateway in {None, hop.gateway})
            for hop in ways
        )
    )


def _implied_route(change: RouteChange, table: int) -> Route:
    return Route(
        prefix=change.prefix,
        nexthops=(Nexthop(link=change.link, gateway=change.gateway),),
        table=table,
        metric=change.metric or 0,
        scope="link" if change.gateway is None else "global",
        span=change.span,
        inferred=Inferred(
            Basis.SHOWN, f"`{change.command}` at {change.span} names it", change.span
        ),
    )
