"""Two nodes that differ in rules for single destinations alone, cut to what flows to these meet.

Theory of operation. Most of what changes on a node with services are rules that a packet meets only
on its way to one address or to one port: an entry (`-d 10.96.0.1/32 ... -j KUBE-SVC-A`, or `-p tcp
--dport 30080 -j KUBE-EXT-A`), and the chains that entries alone lead to. Whoever has another
destination walks past them on both nodes, and has the same answer on both. So only flows to these
destinations are asked about, and for them, in turn, the entries of all others may be left out.

```text
     KUBE-SERVICES -d 10.96.0.1/32 -j KUBE-SVC-A    SVC-A differs       asked: all to 10.96.0.1
                   -d 10.96.0.2/32 -j KUBE-SVC-B    the same            left out, SVC-B with it
                   ...
                   -m addrtype ... -j KUBE-NODEPORTS                    kept: anybody may meet it
```

All else (other rules and their order, devices, routes, settings, connections, what was not read)
has to be the same on both nodes, and nothing but a flow's own header may bring a packet to such a
destination: no translation to it, no fact of a namespace that names it, and no answer, since no
source is one. Where that does not hold there is no cut, and all flows are asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from podpath.library.case import Case
from podpath.net.addresses import WIDTH, Address, Family, Prefix
from podpath.net.provenance import Fact, Gap, Known, Source, Span
from podpath.node.netfilter import Chain, SpelledRules, Table
from podpath.node.node import Netns, Node
from podpath_fleet.header_region import Ranges, holds, intersect, join_ranges, subtract
from podpath_fleet.reach_classes import HeaderSpace
from podpath_fleet.service_shapes import list_outside
from podpath_fleet.table_lines import (
    CannotCutError,
    ChainLines,
    EntryKey,
    TableLines,
    TablePlace,
    Tables,
    find_rewritten,
    known_chain,
    list_changed,
    read_tables,
)

_COUNTED = frozenset({"packets", "bytes", "counters", "timeout"})
"""Fields that no packet's way depends on."""
_TRANSLATING = "nat"
"""The table that only the first packet of a connection meets."""
_LOOPBACK: dict[Family, Ranges] = {4: ((127 << 24, (128 << 24) - 1),), 6: ((1, 1),)}
_ANY_PORT: Ranges = ((0, 0xFFFF),)


@dataclass(frozen=True, slots=True)
class NodeCut:
    """Two nodes without what the flows do not meet whose answers may differ."""

    before: Case
    after: Case
    spaces: tuple[HeaderSpace, ...]
    """These flows."""


def cut_nodes(before: Case, after: Case, spaces: Sequence[HeaderSpace]) -> NodeCut | None:
    """Cut two nodes to what differs between them for some flows; None where more than rules for
    single destinations does.
    """
    try:
        _demand_same(before, after)
        old = read_tables(before.node, {})
        new = read_tables(after.node, old)
        asked = _AskedFlows(before.node, (old, new))
        parts = tuple(part for space in spaces for part in asked.narrow(space))
        cases = (_cut_case(before, old, asked), _cut_case(after, new, asked))
    except CannotCutError:
        return None
    return NodeCut(*cases, parts)


class _AskedFlows:
    """The destinations whose rules differ, and what flows to them may meet."""

    def __init__(self, node: Node, tables: tuple[Tables, Tables]) -> None:
        """Refuse destinations that a packet may come to by anything but its flow's header."""
        old, new = tables
        if old.keys() != new.keys():
            raise CannotCutError
        self._changed = set(_list_all_changed(old, new))
        self._outside = {family: frozenset(list_outside(node, family)) for family in (4, 6)}
        self._rewritten = [find_rewritten(each) for each in tables]
        own = {key.address for key in self._changed if key.address is not None}
        numbers = {key.port for key in self._changed if key.address is None}
        self._demand_own_header(own, numbers, node)
        self._ports = join_ranges((number, number) for number in numbers)
        self._addresses = _group(own)
        self._local = self._list_local(node, tables)
        self._all_ports = join_ranges((*self._ports, *self._list_own_ports(tables)))
        self._entries = _group(_list_entry_addresses(tables))

    def _list_local(self, node: Node, tables: tuple[Tables, Tables]) -> dict[Family, Ranges]:
        """Return the destinations of packets that may meet a changed entry for a port: local ones
        where its chain is entered only for these, else any.
        """
        found = dict(_LOOPBACK)
        for netns in self._list_changed_places(tables):
            shown = node.namespaces[netns] if netns is not None else None
            if shown is None or not shown.addresses.complete:
                return {family: ((0, (1 << width) - 1),) for family, width in WIDTH.items()}
            for family in WIDTH:
                found[family] = join_ranges((*found[family], *_list_local(shown, family)))
        return found

    def _list_changed_places(self, tables: tuple[Tables, Tables]) -> set[str | None]:
        """Return the namespaces of chains that have a changed entry for a port; None for one that
        is entered for any address.
        """
        ports = {key for key in self._changed if key.address is None}
        found: set[str | None] = set()
        for both in tables:
            for place, lines in both.items():
                for name, chain in lines.chains.items():
                    if not ports.isdisjoint(chain.keys):
                        found.add(place.netns if lines.is_for_local(name) else None)
        return found

    def _demand_own_header(self, own: Iterable[Address], ports: set[int], node: Node) -> None:
        if any(map(self._is_met, own)) or any(map(self._is_rewritten_to, ports)):
            raise CannotCutError
        if ports and not ports.isdisjoint(_list_device_numbers(node)):
            raise CannotCutError  # a tunnel sends to a port of its own

    def _is_met(self, address: Address) -> bool:
        rewritten = any(address in one.addresses for one in self._rewritten)
        return rewritten or address.value in self._outside[address.family]

    def _is_rewritten_to(self, port: int) -> bool:
        return any(holds(one.ports, port) for one in self._rewritten)

    def _list_own_ports(self, tables: tuple[Tables, Tables]) -> Ranges:
        """Return the ports that entries for the changed addresses ask for."""
        found: set[int] = set()
        for chain, place in _list_entries(tables):
            key, port = chain.keys[place], chain.ports[place]
            if key is not None and key.address is not None and key in self._changed:
                if port is None:
                    return _ANY_PORT
                found.add(port)
        return join_ranges((port, port) for port in found)

    def narrow(self, space: HeaderSpace) -> Iterator[HeaderSpace]:
        """Yield those headers of a space whose answers may differ."""
        family, region = space.sample.src.family, space.region
        if intersect(region.src, self._entries.get(family, ())):
            raise CannotCutError
        if intersect(region.sport, self._ports):
            raise CannotCutError
        own = self._addresses.get(family, ())
        to_own = region._replace(
            dst=intersect(region.dst, own), dport=intersect(region.dport, self._all_ports)
        )
        others = intersect(subtract(region.dst, own), self._local[family])
        to_ports = region._replace(dst=others, dport=intersect(region.dport, self._ports))
        yield from (space._replace(region=part) for part in (to_own, to_ports) if part)

    def may_meet(self, table: str, key: EntryKey | None, port: int | None) -> bool:
        """Tell whether a packet of these flows may match an entry, which asks for a port or not."""
        if key is None or key in self._changed:
            return True
        if key.address is None:
            met = holds(self._all_ports, key.port) or self._is_rewritten_to(key.port)
            return met or table != _TRANSLATING
        if self._is_met(key.address):
            return True
        return bool(self._ports) and (port is None or holds(self._ports, port))


def _list_local(netns: Netns, family: Family) -> Iterator[tuple[int, int]]:
    """Yield the addresses that a namespace has as its own, and its local routes."""
    for item in netns.addresses.items:
        if item.address.family == family:
            yield item.address.value, item.address.value
    for route in netns.routes.items:
        if route.type == "local" and route.prefix.family == family:
            first = route.prefix.network
            yield first, first | (1 << WIDTH[family] - route.prefix.length) - 1


def _list_all_changed(old: Tables, new: Tables) -> Iterator[EntryKey]:
    for place, lines in old.items():
        for key in list_changed(lines, new[place]):
            if key.address is None and place.name != _TRANSLATING:
                raise CannotCutError  # answers go to ports of their own
            yield key


def _list_entries(tables: tuple[Tables, Tables]) -> Iterator[tuple[Any, int]]:
    for both in tables:
        for lines in both.values():
            for chain in lines.chains.values():
                yield from ((chain, place) for place in range(len(chain.lines)))


def _list_entry_addresses(tables: tuple[Tables, Tables]) -> set[Address]:
    keys = {chain.keys[place] for chain, place in _list_entries(tables)}
    return {key.address for key in keys if key is not None and key.address is not None}


def _group(addresses: Iterable[Address]) -> dict[Family, Ranges]:
    found: dict[Family, list[tuple[int, int]]] = {}
    for one in addresses:
        found.setdefault(one.family, []).append((one.value, one.value))
    return {family: join_ranges(parts) for family, parts in found.items()}


def _demand_same(before: Case, after: Case) -> None:
    """Refuse nodes that differ in anything but tables, or have what is not looked through here."""
    for case in (before, after):
        node = case.node
        native = any(netns.nftables.items for netns in node.namespaces.values())
        if native or node.cilium is not None or node.ovs or node.beside or node.wires:
            raise CannotCutError
        if len(case.nodes) != 1 or case.facts.alternatives:
            raise CannotCutError
    if _spell(before.facts) != _spell(after.facts):
        raise CannotCutError


def _spell(thing: Any) -> object:  # noqa: ANN401 - any part of a case
    """Return a thing without lines, counters and tables."""
    if thing is None or isinstance(thing, str | int | float | Enum | Prefix | Address):
        return thing
    if isinstance(thing, Source):
        return None
    if isinstance(thing, Span):
        return thing.text
    if isinstance(thing, Gap):
        return (thing.why, thing.span.text)
    if isinstance(thing, Table):
        return (thing.name, thing.family, thing.flavour, thing.complete)
    if isinstance(thing, Mapping):
        return tuple((_spell(key), _spell(value)) for key, value in thing.items())
    if isinstance(thing, set | frozenset):
        return frozenset(map(_spell, thing))
    if hasattr(thing, "_fields"):
        return _spell_fields(thing, thing._fields)
    if is_dataclass(thing):
        return _spell_fields(thing, [one.name for one in fields(thing)])
    return tuple(map(_spell, thing)) if isinstance(thing, tuple | list) else repr(thing)


def _spell_fields(thing: Any, names: Iterable[str]) -> object:  # noqa: ANN401 - as above
    values = (getattr(thing, name) for name in names if name not in _COUNTED)
    held = (None if isinstance(value, Span) else _spell(value) for value in values)
    return (type(thing).__name__, *held)


def _list_device_numbers(node: Node) -> set[int]:
    """Return every number that devices have."""
    links = (netns.links for netns in node.namespaces.values())
    return {number for each in links for number in _look_for_numbers(each)}


def _look_for_numbers(thing: Any) -> Iterator[int]:  # noqa: ANN401 - any part of a device
    if isinstance(thing, int):
        yield int(thing)
        return
    parts: Iterable[Any] = ()
    if isinstance(thing, Mapping):
        parts = thing.values()
    elif isinstance(thing, tuple | list | frozenset | set):
        parts = thing
    elif is_dataclass(thing) and not isinstance(thing, Span | Source):
        parts = [getattr(thing, one.name) for one in fields(thing)]
    for part in parts:
        yield from _look_for_numbers(part)


def _cut_case(case: Case, tables: Tables, asked: _AskedFlows) -> Case:
    """Leave out of a node what no packet of the flows may meet."""
    made = {place: _cut_table(lines, asked) for place, lines in tables.items()}
    spaces = {name: _put_tables(netns, made) for name, netns in case.node.namespaces.items()}
    facts = replace(case.facts, node=replace(case.node, namespaces=spaces))
    return replace(case, nodes=(replace(case.nodes[0], facts=facts),))


def _put_tables(netns: Netns, made: Mapping[TablePlace, Table]) -> Netns:
    netfilter = {}
    for family, one in netns.netfilter.items():
        places = (TablePlace(netns.name, family, old.flavour, old.name) for old in one.tables)
        netfilter[family] = replace(one, tables=tuple(made[place] for place in places))
    return replace(netns, netfilter=netfilter)


def _cut_table(lines: TableLines, asked: _AskedFlows) -> Table:
    """Leave out entries that no packet of the flows may match, and chains that these alone lead to.

    What asks whether any rule of the node has some extension or target is told the same by what is
    left, for which a chain may stay that nobody enters; else there is no cut.
    """
    name = lines.table.name
    kept: dict[str, list[int]] = {}
    met: set[EntryKey] = set()
    for chain, own in lines.chains.items():
        entries = zip(own.keys, own.ports, strict=True)
        kept[chain] = [
            place for place, (key, port) in enumerate(entries) if asked.may_meet(name, key, port)
        ]
        met.update(key for place in kept[chain] if (key := own.keys[place]) is not None)
    chains: dict[str, Fact[Chain]] = {}
    kinds: set[str] = set()
    left: set[str] = set()
    closed: dict[str, ChainLines] = {}
    for chain, own in lines.chains.items():
        owners = lines.find_owners(chain)
        if owners is not None and owners.isdisjoint(met):
            closed[chain] = own
            continue
        fact = lines.table.chains[chain]
        whole = len(kept[chain]) == len(own.lines)
        chains[chain] = fact if whole else _pick(known_chain(fact), kept[chain])
        kinds |= lines.list_kinds(own, kept[chain])
        left |= lines.list_kinds(own, set(range(len(own.lines))) - {*kept[chain]})
    for chain, own in closed.items():
        more = lines.list_kinds(own, range(len(own.lines)))
        if not more <= kinds:
            chains[chain] = lines.table.chains[chain]  # which nobody enters
            kinds |= more
    if not left <= kinds:
        raise CannotCutError
    return replace(lines.table, chains=chains)


def _pick(chain: Chain, places: Sequence[int]) -> Known[Chain]:
    if not isinstance(chain.rules, SpelledRules):
        raise CannotCutError
    return Known(replace(chain, rules=chain.rules.pick(places)))
