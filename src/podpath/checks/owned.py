"""What the lines that an answer quotes hold, and whose each is: rules, the policies of chains,
routes, rules of the routing policy, devices and sysctls.

A line that bears no sign is unknown, and stays so; who is known to write such things is said
beside.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain

from podpath.checks.finding import Finding
from podpath.checks.owners import (
    file_owner,
    find_pod,
    owner_of_key,
    owner_of_link,
    owner_of_lookup,
    owner_of_policy,
    owner_of_route,
    owner_of_rule,
    spell_lookup,
    spell_route,
)
from podpath.checks.topology import find_link
from podpath.datapath.tracing.trace import Branch, Conversation, Step
from podpath.datapath.walk.compiled import Engine
from podpath.net.owners import UNSIGNED, Owned, OwnedKind, Owner, Writer, list_writers
from podpath.net.provenance import Fact, Known, Span
from podpath.node.case import Case, ConfiguredSysctl
from podpath.node.change import DeleteRule
from podpath.node.links import FdbEntry, InterfaceAddress, Link, Neighbour
from podpath.node.netfilter import Chain, Rule
from podpath.node.nftables import NftChain, NftRule, NftTable
from podpath.node.node import Netns, Node
from podpath.node.routing import PolicyRule, Route

BUILT_IN = frozenset({"PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"})
"""The kernel's own chains of iptables."""
TABLES = frozenset({"filter", "nat", "mangle", "raw"})
"""Tables of nftables that bear the names of iptables' own."""
_HEAD = re.compile(r"\s*(?:\[\d+:\d+\]\s*)?(?::|-[AP] )\s*(?P<chain>\S+)")
"""How a line of `iptables-save` or `iptables -S` names its chain."""


@dataclass(frozen=True, slots=True)
class OwnerPlaces:
    """Whose the lines of an answer are, and the devices that its steps name."""

    by_span: Mapping[Span, tuple[Owned, ...]] = field(default_factory=dict)
    by_device: Mapping[tuple[str, str], Owned] = field(default_factory=dict)
    """By namespace and name."""

    def list_owned(self, spans: Iterable[Span]) -> tuple[Owned, ...]:
        """Return what lines hold, each thing once."""
        held = chain.from_iterable(self.by_span.get(span, ()) for span in spans)
        return tuple(dict.fromkeys(held))

    def list_of_step(self, step: Step) -> tuple[Owned, ...]:
        """Return what a step quotes, and the device that it names."""
        device = self.by_device.get((step.netns, step.link or ""))
        quoted = self.list_owned(step.spans)
        return quoted if device is None or device in quoted else (*quoted, device)

    def list_of_branch(self, branch: Branch) -> tuple[Owned, ...]:
        """Return what the steps of a branch quote and name, each thing once."""
        owned = chain.from_iterable(map(self.list_of_step, branch.steps))
        return tuple(dict.fromkeys(owned))

    def __or__(self, other: OwnerPlaces) -> OwnerPlaces:
        """Join with those of another case."""
        return OwnerPlaces({**self.by_span, **other.by_span}, {**self.by_device, **other.by_device})

    def of_step(self, step: Step) -> Owner | None:
        """Return whose the line is that decided a step; None where nobody is known."""
        rule = _rule_of(step)
        if rule is not None:
            return _owner_or_admin(rule)
        return self._of_span(step.spans[0]) if step.spans else None

    def of_branch(self, branch: Branch, span: Span) -> Owner | None:
        """Return whose a line is that decided a step of a walk."""
        step = next((step for step in reversed(branch.steps) if span in step.spans[:1]), None)
        return self.of_step(step) if step is not None else self._of_span(span)

    def of_finding(self, finding: Finding) -> Owner | None:
        """Return whose the line is that decides a finding; None where nobody is known."""
        if not finding.evidence:
            return None
        span = finding.evidence[0]
        for repair in finding.repairs:
            for change in repair.changes:
                if isinstance(change, DeleteRule) and change.rule.span == span:
                    return _owner_or_admin(change.rule)
        branch = finding.shown_by
        return self.of_branch(branch, span) if branch is not None else self._of_span(span)

    def _of_span(self, span: Span) -> Owner | None:
        things = [one for one in self.by_span.get(span, ()) if one.span == span]
        owners = [one.owner for one in things if one.owner.program]
        return owners[0] if owners else None


NOBODY = OwnerPlaces()


def _owner_or_admin(rule: Rule | NftRule) -> Owner | None:
    """Return whose a rule is; that nobody signed it where it stands among the kernel's own chains,
    or in a table that no program calls its own: programs make chains of theirs.
    """
    named = owner_of_rule(rule)
    if named is not None:
        return named
    plain = rule.table in TABLES if isinstance(rule, NftRule) else rule.chain in BUILT_IN
    return UNSIGNED if plain else None


def _rule_of(step: Step) -> Rule | NftRule | None:
    """Return the rule that a step was decided by."""
    parts: Iterable[object] = step.reason
    return next((part for part in parts if isinstance(part, Rule | NftRule)), None)


def place_owners(
    case: Case, quoted: Iterable[Span], branches: Iterable[Branch] = ()
) -> OwnerPlaces:
    """Find whose the things are that stand in these lines, and in those that the steps of branches
    quote.
    """
    walked = tuple(branches)
    steps = chain.from_iterable(branch.steps for branch in walked)
    sought = _Sought(
        wanted=frozenset(chain(quoted, *map(_list_quoted, walked))),
        rules=chain.from_iterable(map(_list_rules, walked)),
        devices=frozenset((step.netns, step.link) for step in steps if step.link),
        files=case.configured,
    )
    return _place(case.node, tuple(case.node.namespaces.values()), sought)


def place_conversations(
    case: Case, quoted: Iterable[Span], conversations: Iterable[Conversation]
) -> OwnerPlaces:
    """Find whose the things are that walked conversations, and lines beside them, speak of."""
    return place_owners(case, quoted, chain.from_iterable(each.branches for each in conversations))


def place_drop(
    engine: Engine, namespace: Netns, step: Step | None, quoted: Iterable[Span]
) -> OwnerPlaces:
    """Find whose the things are that are quoted of a drop; only the namespace of the step that
    ended the packet is looked at.
    """
    node = engine.node
    rule = _rule_of(step) if step is not None else None
    seen = node.namespaces.get(step.netns, namespace) if step is not None else namespace
    devices: set[tuple[str, str]] = set()
    if step is not None and step.link:
        devices.add((step.netns, step.link))
    sought = _Sought(
        wanted=frozenset(quoted),
        rules=(rule,) if rule is not None else (),
        devices=frozenset(devices),
    )
    lines = engine.lines.get(seen.name)
    if lines is None:
        lines = engine.lines[seen.name] = _index_things(seen)
    return _place(node, (seen,), sought, lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """What an answer names."""

    wanted: frozenset[Span]
    rules: Iterable[Rule | NftRule]
    """Rules that are known to stand in these lines."""
    devices: frozenset[tuple[str, str]]
    files: tuple[ConfiguredSysctl, ...] = ()


_OnDevice = InterfaceAddress | Neighbour | FdbEntry
"""What a device has: the device that its line names is what has an owner."""
_Thing = Link | Route | PolicyRule | _OnDevice | tuple[str, Known[str]]
"""What stands in a line; of a sysctl its key and value."""
_ThingsByLine = Mapping[Span, Iterable[_Thing]]
_EVERY = range(sys.maxsize)


def _place(
    node: Node, seen: Collection[Netns], sought: _Sought, lines: _ThingsByLine | None = None
) -> OwnerPlaces:
    """Find whose things are; `lines` is what the one namespace has, where that was indexed."""
    wanted = sought.wanted
    found: dict[Span, list[Owned]] = defaultdict(list)
    for rule in sought.rules:
        if rule.span in wanted and rule.span not in found:
            found[rule.span] = [_own_rule(rule)]
    left = wanted - found.keys()
    if left:
        for namespace in seen:
            indexed = lines if lines is not None else _index_things(namespace, left)
            for span in left & indexed.keys():
                things = indexed[span]
                found[span] += [_own_thing(node, namespace, one, sought.files) for one in things]
    for span, owned in _find_rules(seen, left - found.keys()):
        found[span].append(owned)
    return OwnerPlaces(
        {span: _settle(owned) for span, owned in found.items()},
        dict(_name_devices(node, seen, sought.devices)),
    )


def _name_devices(
    node: Node, seen: Iterable[Netns], wanted: Collection[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], Owned]]:
    """Yield whose the wanted devices are, each by its namespace and name."""
    for namespace in seen:
        for link in namespace.links.items:
            place = (namespace.name, str(link.name))
            if place in wanted:
                yield place, _own_link(node, namespace.name, link)


def _settle(found: Iterable[Owned]) -> tuple[Owned, ...]:
    """Return what a line holds, without kinds of which it holds several: a listing on one line does
    not tell which is meant.
    """
    each = tuple(dict.fromkeys(found))
    kinds = [one.kind for one in each]
    return tuple(one for one in each if kinds.count(one.kind) == 1)


def _list_quoted(branch: Branch) -> Iterator[Span]:
    for step in branch.steps:
        yield from step.spans
        yield from (near.span for near in step.near)


def _list_rules(branch: Branch) -> Iterator[Rule | NftRule]:
    for trace in branch.traces:
        yield from (hit.rule for hit in trace.matched)
        yield from filter(None, map(_rule_of, trace.steps))


def _index_things(
    namespace: Netns, wanted: Collection[Span] | None = None
) -> dict[Span, list[_Thing]]:
    """Return what of a namespace's sysctls, devices, routes and routing policy stands in which
    lines: in those that are wanted, or in all.
    """
    found: dict[Span, list[_Thing]] = defaultdict(list)
    # most are told apart by a number
    numbers = _EVERY if wanted is None else {span.line for span in wanted}
    for span, thing in _list_things(namespace, numbers):
        if wanted is None or span in wanted:
            found[span].append(thing)
    return dict(found)


def _list_things(namespace: Netns, numbers: Container[int]) -> Iterator[tuple[Span, _Thing]]:
    for key, fact in namespace.sysctls.items():
        if isinstance(fact, Known) and fact.span is not None and fact.span.line in numbers:
            yield fact.span, (key, fact)
    listings: tuple[Iterable[Link | Route | PolicyRule | _OnDevice], ...] = (
        namespace.links.items,
        namespace.routes.items,
        namespace.rules.items,
        (each for each in namespace.addresses.items if each.inferred is None),
        (each for each in namespace.neighbours.items if each.inferred is None),
        namespace.fdb.items,
    )
    for each in chain.from_iterable(listings):
        span = each.span
        if span is not None and span.line in numbers:
            yield span, each


def _own_thing(
    node: Node, namespace: Netns, thing: _Thing, files: tuple[ConfiguredSysctl, ...]
) -> Owned:
    match thing:
        case Link():
            return _own_link(node, namespace.name, thing)
        case Route():
            return _own_route(node, namespace, thing)
        case PolicyRule():
            return _own_lookup(namespace.name, thing)
        case InterfaceAddress() | Neighbour() | FdbEntry():
            return _own_named(node, namespace, thing.link)
        case (key, fact):
            return _own_sysctl(namespace.name, key, fact, files)


def _own_link(node: Node, netns: str, link: Link) -> Owned:
    owner = owner_of_link(node, netns, link.name) or UNSIGNED
    return Owned(OwnedKind.DEVICE, link.name, netns, link.span, owner)


def _own_named(node: Node, namespace: Netns, name: str) -> Owned:
    link = find_link(namespace, name)
    if link is not None:
        return _own_link(node, namespace.name, link)
    owner = owner_of_link(node, namespace.name, name) or UNSIGNED
    return Owned(OwnedKind.DEVICE, name, namespace.name, None, owner)


def _own_route(node: Node, namespace: Netns, route: Route) -> Owned:
    owner = owner_of_route(route, find_pod(node, namespace)) or UNSIGNED
    writers = () if owner.program else list_writers(OwnedKind.ROUTE, spell_route(route))
    return Owned(OwnedKind.ROUTE, str(route.prefix), namespace.name, route.span, owner, writers)


def _own_lookup(netns: str, rule: PolicyRule) -> Owned:
    owner = owner_of_lookup(rule) or UNSIGNED
    writers = () if owner.program else list_writers(OwnedKind.LOOKUP, spell_lookup(rule))
    return Owned(OwnedKind.LOOKUP, str(rule.priority), netns, rule.span, owner, writers)


def _own_sysctl(netns: str, key: str, fact: Known[str], files: Iterable[ConfiguredSysctl]) -> Owned:
    """Own a sysctl: a file's that sets the value seen, else its device's; who else writes the key
    is said beside, a file that sets another value among them.
    """
    set_by = [one for one in files if fnmatchcase(key, one.key)]
    equal = [one for one in set_by if one.value == fact.value]
    others = [one for one in set_by if one.value != fact.value]
    at_boot = (Writer(str(one.span), f"{one.value}, at boot") for one in others)
    owner = file_owner(equal[-1].span) if equal else owner_of_key(key) or UNSIGNED
    writers = (*at_boot, *list_writers(OwnedKind.SYSCTL, key))
    return Owned(OwnedKind.SYSCTL, key, netns, fact.span, owner, writers)


def _own_rule(rule: Rule | NftRule) -> Owned:
    name = f"{rule.chain} {rule.position}"
    return Owned(OwnedKind.RULE, name, "", rule.span, owner_of_rule(rule) or UNSIGNED)


def _own_policy(table: NftTable | None, found: Chain | NftChain) -> Owned:
    owner = owner_of_policy(table) or UNSIGNED
    writers = list_writers(OwnedKind.POLICY, f"{found.name} {found.policy}")
    if table is not None:
        writers = ()
    return Owned(OwnedKind.POLICY, found.name, "", found.span, owner, writers)


def _find_rules(namespaces: Iterable[Netns], spans: Iterable[Span]) -> Iterator[tuple[Span, Owned]]:
    """Yield the rules and the chains' policies that stand in lines; only chains in which a line may
    stand are read.
    """
    wanted = set(spans)
    if not wanted:
        return
    words = {span: _HEAD.match(span.text) for span in wanted}
    unnamed = {span for span, word in words.items() if word is None}
    listed = {span.source for span in unnamed}
    for namespace in namespaces:
        for iptables in namespace.tables:
            for span, word in words.items():
                fact = iptables.chains.get(word["chain"]) if word is not None else None
                if fact is not None:
                    yield from _match_chain(fact, span)
            if iptables.span is None or iptables.span.source in listed:
                yield from _match_listing(iptables.chains.values(), unnamed)
        for table in namespace.nftables.items:
            yield from _match_table(table, unnamed)


def _match_chain(fact: Fact[Chain], span: Span) -> Iterator[tuple[Span, Owned]]:
    """Yield the chain's policy or the rule of it that stands in a line."""
    chains = [fact.value] if isinstance(fact, Known) else [one.value for one in fact.options]
    for each in chains:
        if each.span == span and each.policy is not None:
            yield span, _own_policy(None, each)
        for rule in each.rules:
            if rule.span == span:
                yield span, _own_rule(rule)


def _match_listing(
    chains: Iterable[Fact[Chain]], wanted: Collection[Span]
) -> Iterator[tuple[Span, Owned]]:
    """Yield what stands in lines that do not name their chain (`iptables -L`)."""
    sources = {span.source for span in wanted}
    if not sources:
        return
    for fact in chains:
        if isinstance(fact, Known) and fact.value.span and fact.value.span.source in sources:
            for span in wanted:
                yield from _match_chain(fact, span)


def _match_table(table: NftTable, wanted: Collection[Span]) -> Iterator[tuple[Span, Owned]]:
    for each in table.chains.values():
        if each.span is not None and each.span in wanted and each.is_base:
            yield each.span, _own_policy(table, each)
        for rule in each.rules:
            if rule.span in wanted:
                yield rule.span, _own_rule(rule)
