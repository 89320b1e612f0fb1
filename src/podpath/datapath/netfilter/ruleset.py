"""Everything that netfilter runs in one namespace for one family: by hook, in the kernel's
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from podpath.datapath.nat.stage import NatStage
from podpath.datapath.netfilter.order import HOOK_ENTRIES, HOOKS, TABLE_NAMES, HookEntry
from podpath.datapath.netfilter.roots import find_roots
from podpath.datapath.netfilter.stages import ContestedStage, ReroutingStage, Stage, TableStage
from podpath.datapath.netfilter.tables import CompiledTable
from podpath.datapath.netfilter.tracking import confirm, track
from podpath.datapath.nftables.order import ContestedPriority
from podpath.datapath.nftables.registration import NativeChains, Registered
from podpath.datapath.sets.ipsets import Sets
from podpath.datapath.vocabulary import Hook
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Family
from podpath.net.provenance import Fact, Option, Unknown
from podpath.node.netfilter import Chain, Netfilter, Rule, Table
from podpath.node.node import Netns
from podpath.xtables.registry import MATCHES, TARGETS

TRACKERS: Mapping[str, Stage] = {"conntrack": track, "conntrack confirm": confirm}

TRACKER_PRIORITIES = frozenset(
    entry.priority for entry in HOOK_ENTRIES if entry.name in {*TRACKERS, "nat"}
)
"""Where native chains are taken to have been registered before conntrack and NAT, which the first
rule that needs them does.
"""


class Ruleset:
    """The compiled tables of a namespace for one family."""

    __slots__ = (
        "defragments",
        "family",
        "missing",
        "native",
        "netns",
        "stages",
        "tables",
        "tracks",
    )

    def __init__(self, netns: Netns, family: Family, *, indexed: bool = True) -> None:
        """Put the stages of every hook in order. No rule is compiled before a packet meets its
        chain.
        """
        netfilter = netns.netfilter.get(family, Netfilter())
        sets = Sets(netfilter.sets)
        self.netns = netns.name
        self.family = family
        self.tables = tuple(
            CompiledTable(table, netns.name, sets, netfilter.ask, indexed=indexed)
            for table in netfilter.tables
        )
        self.native = NativeChains(netns, family)
        self.tracks = self.native.tracks or _switches_tracking_on(netns, family, netfilter.tables)
        """True where conntrack is at work in the namespace."""
        self.defragments = (
            self.tracks or self.native.defragments or any(map(_looks_for_sockets, netfilter.tables))
        )
        """True where datagrams are put together before PREROUTING's tables."""
        shown = {table.name for table in netfilter.tables}
        self.missing = (
            () if netfilter.complete else tuple(name for name in TABLE_NAMES if name not in shown)
        )
        """Tables that may exist and that the evidence does not show."""
        self.stages: Mapping[str, tuple[Stage, ...]] = {
            hook: tuple(self._order(hook)) for hook in HOOKS
        }

    def _order(self, hook: Hook) -> Iterator[Stage]:
        native = self.native.at(hook)
        entries = [entry for entry in HOOK_ENTRIES if entry.hook == hook]
        for priority in sorted(
            {entry.priority for entry in entries} | {entry.priority for entry in native}
        ):
            stages = [
                stage
                for entry in entries
                if entry.priority == priority and (stage := self._stage(entry)) is not None
            ]
            own = [
                _at_hook(entry, hook)
                for entry in sorted(native, key=lambda entry: -entry.serial)
                if entry.priority == priority
            ]
            if own and stages and priority not in TRACKER_PRIORITIES:
                where = f"at priority {priority} of {hook} in netns {self.netns}"
                fact = f"what was registered last {where}, native or iptables (IPv{self.family})"
                yield ContestedPriority(own, stages[0], fact)
            else:
                yield from (*stages, *own)

    def _stage(self, entry: HookEntry) -> Stage | None:
        if entry.name in TRACKERS:
            return TRACKERS[entry.name] if self.tracks else None
        tables = [
            table
            for table in self.tables
            if table.source.name == entry.name and table.source.flavour in entry.flavours
        ]
        stages = [
            TableStage(table, entry.hook, entry.function)
            for table in tables
            if _does_something(table.source, entry.hook)
        ]
        if entry.name == "nat":
            # One nat chain in the namespace registers the dispatcher at all its hooks.
            if not self.tracks or not (tables or self.native.translates):
                return None
            native = self.native.translating(entry.hook)
            return NatStage(entry.hook, stages, native, entry.priority)
        if not stages:
            return None
        stage: Stage = stages[0] if len(stages) == 1 else ContestedStage(stages)
        rerouting = (entry.name, entry.hook) == ("mangle", Hook.OUTPUT)
        return ReroutingStage(stage) if rerouting else stage


def _at_hook(entry: Registered, hook: Hook) -> Stage:
    if entry.type == "route" and hook is Hook.OUTPUT:
        return ReroutingStage(entry.stage)
    return entry.stage


def compile_ruleset(engine: Engine, netns: Netns, family: Family) -> Ruleset:
    """Return the ruleset of a namespace, which is compiled for the first who asks."""
    rulesets: dict[tuple[str, Family], Ruleset] = engine.rulesets
    found = rulesets.get((netns.name, family))
    if found is None:
        found = rulesets[netns.name, family] = Ruleset(netns, family)
    return found


def ruleset(walk: Walk, netns: Netns, family: Family) -> Ruleset:
    """Return the ruleset of a namespace, compiled when it is first asked for."""
    found = compile_ruleset(walk.engine, netns, family)
    if found.missing:
        command = "iptables" if family == 4 else "ip6tables"
        name = f"{command} tables of netns {netns.name} that the evidence leaves out"
        meaning = f"{', '.join(found.missing)}: taken to be empty"
        walk.choices.choose(
            name, (Option(None, meaning),), ask=netns.netfilter.get(family, Netfilter()).ask
        )
    return found


def _does_something(table: Table, hook: Hook) -> bool:
    """Tell whether a base chain can do anything: it has rules, may have a policy of DROP, or is not
    known.
    """
    fact = table.chains.get(hook)
    if fact is None:
        return bool(find_roots(table, hook))
    if isinstance(fact, Unknown):
        return True
    chain: Chain = fact.value
    return bool(len(chain.rules)) or chain.policy != "ACCEPT" or not chain.complete


def _switches_tracking_on(netns: Netns, family: Family, tables: Iterable[Table]) -> bool:
    """Tell whether conntrack is at work: it has entries, or a loaded rule needs it. Base chains are
    read first: they often do.
    """
    if any(entry.original.src.family == family for entry in netns.conntrack.items):
        return True
    facts = [(name in HOOKS, fact) for table in tables for name, fact in table.chains.items()]
    ordered = [fact for is_base, fact in facts if is_base]
    ordered += [fact for is_base, fact in facts if not is_base]
    for fact in ordered:
        for chain in _possible(fact):
            if any(map(_needs_tracking, chain.rules)):
                return True
    return False


def _looks_for_sockets(table: Table) -> bool:
    """Tell whether a rule delivers to proxies or asks for sockets, which needs whole datagrams
    (`nf_defrag_ipv4_enable` of xt_TPROXY and xt_socket).
    """
    for fact in table.chains.values():
        for chain in _possible(fact):
            if any(map(_looks_for_socket, chain.rules)):
                return True
    return False


def _looks_for_socket(rule: Rule) -> bool:
    if rule.target is not None and rule.target.name == "TPROXY":
        return True
    return any(match.name == "socket" for match in rule.matches)


def _possible(fact: Fact[Chain]) -> tuple[Chain, ...]:
    if isinstance(fact, Unknown):
        return tuple(option.value for option in fact.options)
    return (fact.value,)


def _needs_tracking(rule: Rule) -> bool:
    """Tell whether a rule switches conntrack on when it is loaded (`nf_ct_netns_get`). A nat table
    does not, as long as it has no such rule.
    """
    target = rule.target
    known = None if target is None else TARGETS.get(target.name)
    if (
        target is not None
        and known is not None
        and known.tracks
        and not any(option.name == "notrack" for option in target.options)
    ):
        return True
    return any(match.name in MATCHES and MATCHES[match.name].tracks for match in rule.matches)
