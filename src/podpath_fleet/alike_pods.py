"""Pods that their node treats alike: exchange two of them, and the node is the same one.

Theory of operation. A pod has names: those of its network namespace and of its devices' ends on the
host, its addresses, its MACs. Everything that a node says of it says it by one of them. So where
two pods have the same facts but for their names, in their own namespaces and wherever else one of
them is named, a copy of the node in which all names of the two are exchanged is the node itself;
what becomes of a packet of the one becomes of the same packet of the other, with the names
exchanged.

```text
      pod a  10.244.1.5                                pod b  10.244.1.6
        its namespace: eth0, default via 10.244.1.1      the same
        host: vetha on cni0, 10.244.1.5 at 02:..:05      the same, by its own names      alike
        rules: -s 10.244.0.0/16                          both are in it

      pod c  10.244.1.7
        its namespace: net.ipv4.conf.all.rp_filter = 1   no other one's                  not alike
```

Lists whose order means nothing (devices, neighbors, host routes) are compared without it. A rule in
a base chain that names a pod sets it apart. One in another chain does not, since a packet may never
get there: the chain is kept, and a walk that enters it is that of its pod alone (`entries`). Nor
does a connection that is tracked: a packet meets it only between the same addresses (`peers`).
Ranges
(networks, `iprange`, device names with a wildcard) have to hold both pods or neither.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple

from podpath.net.addresses import WIDTH, Address, Family, Prefix
from podpath.net.provenance import Known, Listing, Source, Span
from podpath.node.links import InterfaceAddress
from podpath.node.netfilter import ConntrackEntry, InterfaceMatch, IpSet, PrefixMatch, Rule, Table
from podpath.node.node import Netns, NetnsRole, Node
from podpath.node.routing import Route
from podpath.report.escape import escape
from podpath_fleet.rules_met import MetRule
from podpath_fleet.service_shapes import ADDRESSES

_UNORDERED = ("links", "neighbours", "fdb", "proxied", "sysctls")
"""What of a namespace means the same in any order."""
_COUNTED = frozenset({"packets", "bytes", "counters", "timeout"})
"""Fields that no packet's way depends on."""
_WORDS = (
    re.compile(r"[^\s,;=()\[\]'\"]*[^\s,;=()\[\]'\":.]"),
    re.compile(r"[^\s,;=()\[\]'\".]*[^\s,;=()\[\]'\":.]"),
)
"""Words of a text without the stop or colon behind them, and parts of a sysctl's key, where a
device's own dots are slashes.
"""
_NETWORKS = re.compile(r"[0-9A-Fa-f:.]+/\d+")
_RANGES = re.compile(r"([0-9A-Fa-f:.]+)-([0-9A-Fa-f:.]+)")
_REMARK = "comment"

ChainPlace = tuple[str, Family, str, str, str]
"""Namespace, family, flavor, table and name of a chain."""


class PodEnd(NamedTuple):
    """A pod, and the address that its connections come from."""

    netns: str
    address: Address


@dataclass(frozen=True, slots=True)
class AlikePods:
    """Pods of which each two can be exchanged."""

    pods: tuple[PodEnd, ...]
    names: frozenset[str]
    """All their names, as texts have them."""
    lines: frozenset[tuple[str, int]]
    """Where it is told of them: escaped names of sources, with lines."""
    entries: frozenset[MetRule]
    """Rules that lead into a chain which names one of them."""
    peers: frozenset[int]
    """Addresses that a tracked connection of one of them has beside its own."""


class _Name(NamedTuple):
    """What a name is to its pod."""

    pod: int
    role: str


class _PodMention(NamedTuple):
    """Something that is said of one pod, with roles in place of names."""

    where: str
    what: Hashable


@dataclass(slots=True)
class _PodFacts:
    """What is told of one pod."""

    own: Hashable = None
    """Its namespace."""
    mentions: Counter[_PodMention] = field(default_factory=Counter)
    lines: set[tuple[str, int]] = field(default_factory=set)
    chains: set[ChainPlace] = field(default_factory=set)
    peers: set[int] = field(default_factory=set)
    apart: bool = False
    """True where it is named in a place whose order counts, or together with another pod."""


def list_alike_pods(node: Node, family: Family) -> tuple[AlikePods, ...]:
    """Return the groups of two or more pods that are alike, each with one global address of the
    family; none where the node has what is not looked through here (Cilium, Open vSwitch, native
    tables, other nodes).
    """
    if node.cilium is not None or node.ovs or node.beside or node.wires:
        return ()
    if any(netns.nftables.items for netns in node.namespaces.values()):
        return ()
    pods = list(_list_ends(node, family))
    if len(pods) < 2:
        return ()
    comparison = _Comparison(node, pods)
    return tuple(comparison.list_groups())


def _list_ends(node: Node, family: Family) -> Iterator[PodEnd]:
    for name, netns in node.namespaces.items():
        found = [
            item.address
            for item in netns.addresses.items
            if item.address.family == family and item.scope == "global"
        ]
        if netns.role == NetnsRole.POD and len(found) == 1:
            yield PodEnd(name, found[0])


class _Comparison:
    """One look through a node for all that names its pods."""

    def __init__(self, node: Node, pods: list[PodEnd]) -> None:
        self._node = node
        self._pods = pods
        self._facts = [_PodFacts() for _ in pods]
        self._names: dict[Hashable, _Name] = {}
        self._seen: set[int] = set()
        """The pods that were named since it was emptied."""
        self._spans: list[Span] = []
        """What was quoted since it was emptied."""
        self._ranges: set[tuple[Family, int, int]] = set()
        """First and last addresses that anything asks for."""
        self._wildcards: set[str] = set()
        """Beginnings of device names that rules ask for."""
        self._plain: set[str] = set()
        """Values of rules' options that name no pod."""
        self._odd_mask = False
        for place, pod in enumerate(pods):
            self._name_pod(place, node.namespaces[pod.netns])
        for name, netns in node.namespaces.items():
            self._look_through(name, netns)

    def _name_pod(self, place: int, netns: Netns) -> None:
        self._give(place, netns.name, "namespace")
        for number, item in enumerate(netns.addresses.items):
            if not item.address.is_loopback:
                self._give(place, item.address, f"address {number}")
        for link in netns.links.items:
            if link.mac is not None and link.name != "lo":
                self._give(place, str(link.mac), f"MAC of {link.name}")
            peer = link.peer.value if isinstance(link.peer, Known) else None
            if peer is None:
                continue
            other = self._node.namespaces.get(peer.netns)
            self._give(place, str(peer.link), f"peer of {link.name}")
            for end in other.links.items if other is not None else ():
                if end.name == peer.link and end.mac is not None:
                    self._give(place, str(end.mac), f"MAC of the peer of {link.name}")

    def _give(self, place: int, name: Address | str, role: str) -> None:
        """Keep a name; one that two pods have sets both apart."""
        known = self._names.get(name)
        if known is not None:
            self._facts[known.pod].apart = True
            self._facts[place].apart = True
        self._names[name] = _Name(place, role)
        if isinstance(name, Address):
            self._names[str(name)] = _Name(place, role)
        elif "." in name:
            self._names[name.replace(".", "/")] = _Name(place, role)

    def _look_through(self, name: str, netns: Netns) -> None:
        owner = self._names.get(name)
        if owner is not None and self._pods[owner.pod].netns == name:
            told = self._facts[owner.pod]
            told.own = self._spell_whole(netns)
            self._keep_lines(told)
            self._part_others(owner.pod)
            return
        for entry in fields(netns):
            if entry.name == "netfilter":
                for family, netfilter in netns.netfilter.items():
                    for table in netfilter.tables:
                        self._look_at_table(name, table)
                    for one in netfilter.sets.values():
                        self._look_at_set(f"{name} {family}", one)
            elif entry.name == "conntrack":
                self._look_at_connections(netns.conntrack.items)
            elif entry.name not in _COUNTED:
                self._look_at_field(f"{name} {entry.name}", entry.name, getattr(netns, entry.name))

    def _look_at_field(self, where: str, name: str, value: Any) -> None:  # noqa: ANN401 - any field
        items = value.items if isinstance(value, Listing) else value
        if isinstance(items, Mapping):
            items = tuple(items.items())
        if not isinstance(items, tuple | frozenset):
            items = (items,)
        for item in items:
            ordered = name not in _UNORDERED and not _is_host_route(item)
            self._look_at(where, item, ordered=ordered)

    def _look_at_connections(self, entries: Iterable[ConntrackEntry]) -> None:
        """Note whom a pod has connections with; one with itself sets it apart, one with another
        pod of the node both.
        """
        for entry in entries:
            self._seen.clear()
            ends = (entry.original.src, entry.original.dst, entry.reply.src, entry.reply.dst)
            strangers = [end.value for end in ends if self._find(end) is None]
            if len(self._seen) > 1 or not strangers:
                self._part_others(None)
            for pod in self._seen:
                self._facts[pod].peers.update(strangers)

    def _look_at_set(self, where: str, one: IpSet) -> None:
        plain = one.type.startswith("hash:")
        for member in one.members:
            self._look_at(f"{where} {one.name}", member, ordered=not plain)

    def _look_at(self, where: str, item: Hashable, *, ordered: bool) -> None:
        """Keep what an item says of a pod; one that is ordered, or names two pods, sets apart."""
        what = self._spell_whole(item)
        if ordered or len(self._seen) > 1:
            self._part_others(None)
        for pod in self._seen:
            self._facts[pod].mentions[_PodMention(where, what)] += 1
            self._keep_lines(self._facts[pod])

    def _look_at_table(self, netns: str, table: Table) -> None:
        for name, fact in table.chains.items():
            if not isinstance(fact, Known):
                self._odd_mask = True  # outputs disagree: each of them would have to be compared
                continue
            place = (netns, table.family, table.flavour, table.name, name)
            for rule in fact.value.rules:
                self._seen.clear()
                self._look_at_rule(rule)
                for pod in self._seen:
                    told = self._facts[pod]
                    told.apart = told.apart or fact.value.policy is not None
                    told.chains.add(place)

    def _look_at_rule(self, rule: Rule) -> None:
        """Note the pods that a rule names, and the ranges that it asks for."""
        for match in (rule.src, rule.dst):
            if match is not None:
                self._look_at_prefix(match)
        for link in (rule.in_link, rule.out_link):
            if link is not None:
                self._look_at_link(link)
        extensions = [match for match in rule.matches if match.name != _REMARK]
        options = [option for match in extensions for option in match.options]
        if rule.target is not None:
            options += rule.target.options
        for option in options:
            for value in option.values:
                if value not in self._plain:
                    self._look_at_value(value)

    def _look_at_value(self, value: str) -> None:
        seen, self._seen = self._seen, set()
        ranges = len(self._ranges)
        self._spell_text(value)
        if value.endswith("+"):
            self._wildcards.add(value[:-1])
        elif not self._seen and len(self._ranges) == ranges:
            self._plain.add(value)
        self._seen |= seen

    def _look_at_prefix(self, match: PrefixMatch) -> None:
        prefix = match.prefix
        if match.mask is not None:
            self._odd_mask = True
        elif prefix.length == WIDTH[prefix.family]:
            self._find(Address(prefix.family, prefix.network))
        else:
            self._keep_range(prefix)

    def _look_at_link(self, link: InterfaceMatch) -> None:
        if link.wildcard:
            self._wildcards.add(link.name)
        else:
            self._find(str(link.name))

    def _find(self, name: Hashable) -> _Name | None:
        found = self._names.get(name)
        if found is not None:
            self._seen.add(found.pod)
        return found

    def _keep_range(self, prefix: Prefix) -> None:
        last = prefix.network | (1 << WIDTH[prefix.family] - prefix.length) - 1
        self._ranges.add((prefix.family, prefix.network, last))

    def _part_others(self, own: int | None) -> None:
        """Set the pods apart that were named, but for the one whose own facts name it."""
        others = self._seen - {own}
        for pod in others:
            self._facts[pod].apart = True
        if others and own is not None:
            self._facts[own].apart = True

    def _keep_lines(self, told: _PodFacts) -> None:
        for span in self._spans:
            name = str(escape(span.source.name))
            told.lines.update((name, line) for line in range(span.line, span.last_line + 1))

    def _spell_whole(self, thing: Any) -> Hashable:  # noqa: ANN401 - any part of a node
        self._seen.clear()
        self._spans.clear()
        return self._spell(thing)

    def _spell(self, thing: Any) -> Hashable:  # noqa: ANN401 - any part of a node
        """Return a thing with roles in place of the names of pods, without lines and counters."""
        if thing is None or isinstance(thing, int | float | Enum):
            return thing
        if isinstance(thing, str):
            return self._spell_text(str(thing))
        if isinstance(thing, Span):
            self._spans.append(thing)
            return None
        if isinstance(thing, Source):
            return None
        if isinstance(thing, Address):
            found = self._find(thing)
            return thing if found is None else found.role
        if isinstance(thing, Prefix):
            return self._spell_prefix(thing)
        if isinstance(thing, PrefixMatch | InterfaceMatch):
            self._look_at_match(thing)
        if isinstance(thing, InterfaceAddress):
            self._keep_range(thing.prefix)
        return self._spell_parts(thing)

    def _look_at_match(self, match: PrefixMatch | InterfaceMatch) -> None:
        if isinstance(match, PrefixMatch):
            self._odd_mask = self._odd_mask or match.mask is not None
        elif match.wildcard:
            self._wildcards.add(match.name)

    def _spell_parts(self, thing: Any) -> Hashable:  # noqa: ANN401 - any part of a node
        if isinstance(thing, Mapping):
            pairs = ((self._spell(key), self._spell(value)) for key, value in thing.items())
            return frozenset(pairs)
        if isinstance(thing, set | frozenset):
            return frozenset(map(self._spell, thing))
        if is_dataclass(thing):
            names = [entry.name for entry in fields(thing)]
        elif hasattr(thing, "_fields"):
            names = list(thing._fields)
        else:
            if isinstance(thing, Iterable):
                return tuple(map(self._spell, thing))
            return repr(thing)
        parts = (self._spell(getattr(thing, name)) for name in names if name not in _COUNTED)
        return (type(thing).__name__, *parts)

    def _spell_prefix(self, prefix: Prefix) -> Hashable:
        if prefix.length < WIDTH[prefix.family]:
            self._keep_range(prefix)
            return prefix
        found = self._find(Address(prefix.family, prefix.network))
        return prefix if found is None else found.role

    def _spell_text(self, text: str) -> str:
        found = self._find(text)
        if found is not None:
            return found.role
        text = _RANGES.sub(self._spell_range, text)
        for network in _NETWORKS.findall(text):
            self._keep_network(network)
        text = ADDRESSES.sub(self._spell_address, text)
        for words in _WORDS:
            text = words.sub(self._spell_word, text)
        return text

    def _spell_address(self, match: re.Match[str]) -> str:
        try:
            address = Address.parse(match[0])
        except ValueError:
            return match[0]
        found = self._find(address)
        return match[0] if found is None else f"<{found.role}>"

    def _spell_word(self, word: re.Match[str]) -> str:
        found = self._find(word[0]) or self._find(word[0].lower())
        return word[0] if found is None else f"<{found.role}>"

    def _spell_range(self, match: re.Match[str]) -> str:
        """Keep a range, and leave its ends out of the text: they stand for what is between."""
        try:
            first, last = Address.parse(match[1]), Address.parse(match[2])
        except ValueError:
            return match[0]
        self._ranges.add((first.family, first.value, last.value))
        return f"<{first.value} to {last.value}>"

    def _keep_network(self, text: str) -> None:
        try:
            self._keep_range(Prefix.parse(text))
        except ValueError:
            return

    def list_groups(self) -> Iterator[AlikePods]:
        """Yield the groups, in the order in which their first pods stand."""
        if self._odd_mask:
            return
        groups: dict[Hashable, list[int]] = {}
        for place, told in enumerate(self._facts):
            if not told.apart:
                groups.setdefault((told.own, self._place(place)), []).append(place)
        for group in groups.values():
            by_mentions: dict[Hashable, list[int]] = {}
            for place in group:
                mentions = frozenset(self._facts[place].mentions.items())
                by_mentions.setdefault(mentions, []).append(place)
            for places in by_mentions.values():
                if len(places) > 1:
                    yield self._make_group(places)

    def _place(self, pod: int) -> Hashable:
        """Return which ranges hold a pod's addresses, and which wildcards its devices' names begin
        with.
        """
        own = [(key, name.role) for key, name in self._names.items() if name.pod == pod]
        addresses: set[tuple[str, int, int]] = set()
        devices: set[tuple[str, str]] = set()
        for key, role in own:
            if isinstance(key, Address):
                for family, first, last in self._ranges:
                    if family == key.family and first <= key.value <= last:
                        addresses.add((role, first, last))
            elif isinstance(key, str) and role.startswith("peer of "):
                begun = [wildcard for wildcard in self._wildcards if key.startswith(wildcard)]
                devices.update((role, wildcard) for wildcard in begun)
        return frozenset(addresses), frozenset(devices)

    def _make_group(self, places: list[int]) -> AlikePods:
        members = frozenset(places)
        chains = frozenset(chain for place in places for chain in self._facts[place].chains)
        return AlikePods(
            tuple(self._pods[place] for place in places),
            frozenset(
                key
                for key, name in self._names.items()
                if name.pod in members and isinstance(key, str)
            ),
            frozenset(line for place in places for line in self._facts[place].lines),
            frozenset(_list_entries(self._node, chains)),
            frozenset(peer for place in places for peer in self._facts[place].peers),
        )


def mentions(text: str, names: frozenset[str]) -> bool:
    """Tell whether a text has one of some names in it, as a word or an address."""
    if any(word in names for words in _WORDS for word in words.findall(text)):
        return True
    return any(_is_named(found, names) for found in ADDRESSES.findall(text))


def rename(text: str, old: str, new: str) -> str:
    """Put another name where one stands as a word."""
    return re.sub(rf"(?<![\w.-]){re.escape(old)}(?![\w-])", lambda _: new, text)


def _is_named(text: str, names: frozenset[str]) -> bool:
    try:
        return str(Address.parse(text)) in names
    except ValueError:
        return False


def _is_host_route(item: object) -> bool:
    """Tell whether this is a route to one address: the order of such routes means nothing."""
    return isinstance(item, Route) and item.prefix.length == WIDTH[item.prefix.family]


def _list_entries(node: Node, chains: frozenset[ChainPlace]) -> Iterator[MetRule]:
    """Yield the rules that lead into some chains."""
    if not chains:
        return
    for netns, space in node.namespaces.items():
        for table in space.tables:
            head = (netns, table.family, table.flavour, table.name)
            known = {chain[-1] for chain in chains if chain[:-1] == head}
            for fact in table.chains.values() if known else ():
                for rule in fact.value.rules if isinstance(fact, Known) else ():
                    if rule.target is not None and rule.target.name in known:
                        yield MetRule(*head, rule.chain, rule.position)
