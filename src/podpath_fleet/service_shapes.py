"""Services whose rules are the same but for their addresses, and the names of their chains: what a
walk through the rules of one of them does, one through those of another does too.

What comes in is a node; nothing is said of kube-proxy. A rule of a long chain that asks for one
address, protocol and port and jumps is an entry; its tree is every chain that it leads to. The
shape of a tree is all that its rules say, with a number in place of each address (the same number
for the same address) and of each chain. Two trees of one shape differ in nothing that a walk can be
told, provided that nothing else on the node mentions the entry's address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from podpath.datapath.netfilter.index import PORT_OPTIONS, PORTED_MATCHES, SHORTEST
from podpath.net.addresses import WIDTH, Address, Family, Prefix
from podpath.net.provenance import Known, Source, Span
from podpath.node.netfilter import Chain, PrefixMatch, Rule, Table
from podpath.node.node import HOST, Node
from podpath.xtables.nat_ranges import parse_nat_range
from podpath_fleet.rules_met import MetRule

MOST_RULES = 4096
"""Rules of one tree; a larger one is walked by itself."""
ADDRESSES = re.compile(r"\d+\.\d+\.\d+\.\d+|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+")
"""What may be an address in a text."""
_REMARK = "comment"
_Part = tuple[Any, ...]


class ShapedService(NamedTuple):
    """The header that an entry asks for, and what its tree is."""

    protocol: int
    address: int
    port: int
    shape: int
    """Equal where the trees are."""
    constants: tuple[int, ...]
    """The addresses of the tree by their numbers in the shape; the first is its own."""
    chains: tuple[str, ...]
    """The chains of the tree by their numbers in the shape."""
    entry: MetRule
    """Where its entry stands, in the table of its tree."""

    def has(self, netns: str, table: str, chain: str) -> bool:
        """Tell whether a chain is one of the tree's."""
        return (netns, table) == (self.entry.netns, self.entry.table) and chain in self.chains

    def put(self, place: MetRule, other: ShapedService) -> MetRule:
        """Return where the rule of this tree stands that is at a place of another one's."""
        if place == other.entry:
            return self.entry
        if place[:4] == other.entry[:4] and place.chain in other.chains:
            return place._replace(chain=self.chains[other.chains.index(place.chain)])
        return place


class _NamedAddress(NamedTuple):
    """An address that a rule names."""

    table: int
    chain: str
    position: int
    header: tuple[int, int] | None
    """Protocol and port, where the rule is for packets to just this address, protocol and port."""


def list_shaped_services(node: Node, family: Family) -> tuple[ShapedService, ...]:
    """Return the services of the host's tables whose trees have a shape; none where the node has
    what is not looked through here (Cilium, Open vSwitch, native tables, other nodes).
    """
    if node.cilium is not None or node.ovs or node.beside or node.wires:
        return ()
    if any(netns.nftables.items for netns in node.namespaces.values()):
        return ()
    try:
        rules = _RulesOfNode(node, family)
    except _UnknownChainError:
        return ()
    return tuple(rules.list_services())


class _UnknownChainError(Exception):
    """Outputs disagree about a chain."""


class _RulesOfNode:
    """All rules of a node, and who mentions what."""

    def __init__(self, node: Node, family: Family) -> None:
        self._family = family
        self._mentions: dict[int, list[_NamedAddress]] = {}
        self._shapes: dict[_Part, int] = {}
        self._tables: list[tuple[str, Table, dict[str, Chain]]] = []
        for name, netns in node.namespaces.items():
            for table in netns.tables:
                self._read_table(name, table)
        self._outside = frozenset(list_outside(node, family))

    def _read_table(self, netns: str, table: Table) -> None:
        number, chains = len(self._tables), {}
        for name, fact in table.chains.items():
            if not isinstance(fact, Known):
                raise _UnknownChainError
            chains[name] = fact.value
            for rule in fact.value.rules:
                for address in _list_mentioned(rule, self._family):
                    header = _pinned_header(rule, self._family)
                    mention = _NamedAddress(number, name, rule.position, header)
                    self._mentions.setdefault(address, []).append(mention)
        self._tables.append((netns, table, chains))

    def list_services(self) -> Iterator[ShapedService]:
        """Yield the services of the host."""
        for number, (netns, table, chains) in enumerate(self._tables):
            if netns != HOST or table.name != "nat" or table.family != self._family:
                continue
            for name, chain in chains.items():
                if len(chain.rules) >= SHORTEST and _is_whole(chain):
                    yield from self._list_entries(number, name, chain.rules)

    def _list_entries(
        self, number: int, chain: str, rules: Iterable[Rule]
    ) -> Iterator[ShapedService]:
        others = 0
        for rule in rules:
            header = _pinned_header(rule, self._family)
            if header is None:
                others += 1  # an entry before it and one behind it have no one shape
                continue
            found = self._shape(number, rule, (number, chain, others))
            if found is not None:
                yield found

    def _shape(self, number: int, entry: Rule, before: _Part) -> ShapedService | None:
        header = _pinned_header(entry, self._family)
        if header is None or entry.dst is None:
            return None
        address = entry.dst.prefix.network
        tree = _Tree(self._tables[number][2], self._family, address)
        parts = tree.spell(entry)
        if parts is None or not tree.chains:
            return None
        own = (number, entry.chain, entry.position)
        for mention in self._mentions.get(address, ()):
            inside = mention.table == number and mention.chain in tree.chains
            other = mention.header is not None and mention.header != header
            if not (inside or other or mention[:3] == own):
                return None
        if address in self._outside:
            return None
        shape = self._shapes.setdefault((before, *parts), len(self._shapes))
        constants, chains = tuple(tree.constants), tuple(tree.chains)
        netns, table, _ = self._tables[number]
        where = (netns, table.family, table.flavour, table.name, entry.chain, entry.position)
        place = MetRule(*where)
        return ShapedService(header[0], address, header[1], shape, constants, chains, place)


class _Tree:
    """The chains behind one entry, spelled with numbers for addresses and chains."""

    def __init__(self, known: Mapping[str, Chain], family: Family, address: int) -> None:
        self._known = known
        self._family = family
        self.constants: dict[int, int] = {address: 0}
        """Numbers of addresses, in the order in which they are met."""
        self.chains: dict[str, int] = {}

    def spell(self, entry: Rule) -> tuple[_Part, ...] | None:
        """Return what the rules say; None where one of them is not understood."""
        parts: list[_Part] = []
        rules, done = [entry], 0
        while rules:
            for rule in rules:
                part = self._spell_rule(rule)
                if part is None:
                    return None
                parts.append(part)
            if done == len(self.chains):
                break
            name = list(self.chains)[done]
            chain = self._known[name]
            done += 1
            if not _is_whole(chain) or len(parts) + len(chain.rules) > MOST_RULES:
                return None
            parts.append((len(chain.rules), chain.policy))
            rules = list(chain.rules)
            if not rules and done == len(self.chains):
                break
        return tuple(parts)

    def _spell_rule(self, rule: Rule) -> _Part | None:
        if rule.unread or rule.hidden:
            return None
        matches = tuple(match for match in rule.matches if match.name != _REMARK)
        return (
            self._spell_target(rule),
            self._spell_prefix(rule.src),
            self._spell_prefix(rule.dst),
            *(rule.protocol, rule.in_link, rule.out_link, rule.fragment, matches),
        )

    def _spell_target(self, rule: Rule) -> object:
        target = rule.target
        if target is None:
            return None
        if target.name in self._known:
            return self.chains.setdefault(target.name, len(self.chains)), target.goto
        if target.name == "DNAT" and len(target.options) == 1 and target.options[0].values:
            try:
                allowed = parse_nat_range(target.options[0].values[0], self._family)
            except ValueError:
                return target
            if allowed.low is not None and allowed.low == allowed.high:
                number = self._number(allowed.low)
                return target.name, number, allowed._replace(low=None, high=None)
        return target

    def _spell_prefix(self, match: PrefixMatch | None) -> object:
        if match is None or not _is_single(match.prefix, match.mask):
            return match
        return self._number(match.prefix.network), match.negated

    def _number(self, address: int) -> int:
        return self.constants.setdefault(address, len(self.constants))


def _is_whole(chain: Chain) -> bool:
    return chain.complete and (chain.in_line is None or chain.in_line >= len(chain.rules))


def _is_single(prefix: Prefix, mask: int | None = None) -> bool:
    return prefix.length == WIDTH[prefix.family] and mask is None


def _pinned_header(rule: Rule, family: Family) -> tuple[int, int] | None:
    """Return protocol and port of a rule that is for packets to one address, protocol and port."""
    dst, protocol = rule.dst, rule.protocol
    if dst is None or dst.negated or protocol is None or protocol.negated or not protocol.number:
        return None
    if not _is_single(dst.prefix, dst.mask) or dst.prefix.family != family or rule.unread:
        return None
    for match in rule.matches:
        for option in match.options if match.name in PORTED_MATCHES else ():
            plain = option.name in PORT_OPTIONS and not option.negated and len(option.values) == 1
            if plain and option.values[0].isdigit():
                return protocol.number, int(option.values[0])
    return None


def _list_mentioned(rule: Rule, family: Family) -> Iterator[int]:
    """Yield the single addresses that a rule names."""
    for match in (rule.src, rule.dst):
        if match is not None and _is_single(match.prefix, match.mask):
            yield match.prefix.network
    extensions = [match for match in rule.matches if match.name != _REMARK]
    options = [option for match in extensions for option in match.options]
    if rule.target is not None:
        options += rule.target.options
    for option in options:
        for value in option.values:
            yield from _find_addresses(value, family)


def _find_addresses(text: str, family: Family) -> Iterator[int]:
    if "." not in text and ":" not in text:
        return
    for found in ADDRESSES.findall(text):
        try:
            address = Address.parse(found)
        except ValueError:
            continue
        if address.family == family:
            yield address.value


def list_outside(node: Node, family: Family) -> Iterator[int]:
    """Yield the single addresses that anything but a rule of iptables names."""
    for netns in node.namespaces.values():
        for field in fields(netns):
            if field.name != "netfilter":
                yield from _look_through(getattr(netns, field.name), family)
        for netfilter in netns.netfilter.values():
            yield from _look_through(netfilter.sets, family)


def _look_through(thing: Any, family: Family) -> Iterator[int]:  # noqa: ANN401 - any part of a node
    if isinstance(thing, Address):
        yield from (thing.value,) if thing.family == family else ()
    elif isinstance(thing, Prefix):
        yield from (thing.network,) if thing.family == family and _is_single(thing) else ()
    elif isinstance(thing, str):
        yield from _find_addresses(thing, family)
    elif not isinstance(thing, Span | Source):
        for part in _list_parts(thing):
            yield from _look_through(part, family)


def _list_parts(thing: Any) -> Iterable[Any]:  # noqa: ANN401 - any part of a node
    if isinstance(thing, Mapping):
        return thing.items()
    if isinstance(thing, tuple | list | frozenset | set):
        return thing
    if is_dataclass(thing):
        return [getattr(thing, field.name) for field in fields(thing)]
    return ()
