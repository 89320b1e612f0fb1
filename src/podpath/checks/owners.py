"""Whose a rule, a route, a device or a sysctl is, and what will write it again.

By the signs of `net.owners`: names of chains and tables, comments, devices, the protocol of routes.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from podpath.checks.finding import Finding
from podpath.checks.topology import option_values
from podpath.datapath.tracing.trace import Branch, Step
from podpath.net.owners import UNSIGNED, Owner, OwnerSign, find_row, name_owner
from podpath.net.provenance import Known, Span
from podpath.node.case import Case
from podpath.node.change import Change, DeleteRoute, DeleteRule, InsertRule
from podpath.node.netfilter import Rule
from podpath.node.nftables import NftRule
from podpath.node.node import Netns
from podpath.node.routing import Route

_LEFT_ALONE = frozenset({"DOCKER-USER", "CNI-ADMIN"})
"""Chains that their program makes for rules of others."""
BUILT_IN = frozenset({"PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"})
"""The kernel's own chains of iptables."""
TABLES = frozenset({"filter", "nat", "mangle", "raw"})
"""Tables of nftables that bear the names of iptables' own."""
_REMEMBERED = 1 << 16
"""Names of devices and sysctls whose owner is known already: each node of a cluster has the same.
"""
_OF_FILE = "at boot, and at `sysctl --system`"


def owner_of_rule(rule: Rule | NftRule) -> Owner | None:
    """Return whose a rule is, by its chain or table, the chain that it goes to, or its comment."""
    if isinstance(rule, NftRule):
        table = name_owner(OwnerSign.TABLE, f"{rule.family} {rule.table}")
        return table or name_owner(OwnerSign.COMMENT, rule.comment)
    comment = " ".join(option_values(rule, "comment", "comment"))
    target = rule.target.name if rule.target is not None else ""
    own = find_row(OwnerSign.CHAIN, rule.chain) if rule.chain not in _LEFT_ALONE else None
    if own is not None and not (own.signs and _is_strange(rule, comment)):
        return name_owner(OwnerSign.CHAIN, rule.chain)
    return name_owner(OwnerSign.CHAIN, target) or name_owner(OwnerSign.COMMENT, comment)


def _is_strange(rule: Rule, comment: str) -> bool:
    """Tell whether a rule that names an address lacks the comment that its chain's program puts to
    such rules: somebody else put it there.
    """
    ends = rule.target is not None and rule.target.name in {"DROP", "REJECT", "ACCEPT", "RETURN"}
    return ends and not comment and (rule.src is not None or rule.dst is not None)


def owner_of_route(route: Route) -> Owner | None:
    """Return whose a route is, by its protocol, else by its device."""
    links = (hop.link for hop in route.nexthops if hop.link is not None)
    by_device = next((owner for link in links if (owner := owner_of_device(link))), None)
    by_protocol = name_owner(OwnerSign.PROTOCOL, route.protocol)
    if route.protocol == "kernel":  # it comes with an address, which is whose the device is
        return by_device or by_protocol
    return by_protocol or by_device


@lru_cache(_REMEMBERED)
def owner_of_device(name: str) -> Owner | None:
    """Return whose a device is, by its name."""
    return name_owner(OwnerSign.DEVICE, name)


@lru_cache(_REMEMBERED)
def owner_of_key(key: str) -> Owner | None:
    """Return who writes a sysctl of a device that is its own."""
    parts = key.split(".")
    found = owner_of_device(parts[3].replace("/", ".")) if len(parts) == 5 else None
    if found is None:
        return None
    row = find_row(OwnerSign.DEVICE, found.sign)
    patterns = [pattern for writes in row.writes for pattern in writes.keys] if row else []
    return found if any(fnmatch.fnmatchcase(key, pattern) for pattern in patterns) else None


@dataclass(frozen=True, slots=True)
class OwnerPlaces:
    """Whose the lines of a case are that no rule of a walk stands in: routes, devices, sysctls."""

    by_span: Mapping[Span, Owner]

    def of_step(self, step: Step) -> Owner | None:
        """Return whose the line is that decided a step; None where nobody is known."""
        rule = _rule_of(step)
        if rule is not None:
            return _owner_or_admin(rule)
        return self.by_span.get(step.spans[0]) if step.spans else None

    def of_branch(self, branch: Branch, span: Span) -> Owner | None:
        """Return whose a line is that decided a step of a walk."""
        step = next((step for step in reversed(branch.steps) if span in step.spans[:1]), None)
        return self.of_step(step) if step is not None else self.by_span.get(span)

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
        return self.of_branch(branch, span) if branch is not None else self.by_span.get(span)


NOBODY = OwnerPlaces({})


def find_owner(namespace: Netns, step: Step) -> Owner | None:
    """Return whose the line is that decided a step in a namespace; None where nobody is known."""
    rule = _rule_of(step)
    if rule is not None:
        return _owner_or_admin(rule)
    deciding = step.spans[0] if step.spans else None
    places = _list_of(namespace, {}) if deciding is not None else ()
    return next((owner for span, owner in places if span == deciding), None)


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


def place_owners(case: Case, quoted: Collection[Span] = ()) -> OwnerPlaces:
    """Find whose routes, devices, sysctls and the rules among quoted lines of a case are."""
    return OwnerPlaces({**dict(_list_places(case)), **dict(_list_rules(case, quoted))})


def _list_rules(case: Case, quoted: Collection[Span]) -> Iterator[tuple[Span, Owner]]:
    """Yield the owners of the rules that stand in quoted lines; only chains that a line names are
    read.
    """
    texts = [(span, span.text) for span in quoted]
    for namespace in case.node.namespaces.values():
        for table in namespace.tables:
            for name, fact in table.chains.items():
                near = {span for span, text in texts if name in text}
                for rule in fact.value.rules if near and isinstance(fact, Known) else ():
                    if rule.span in near and (owner := owner_of_rule(rule)):
                        yield rule.span, owner


def _list_places(case: Case) -> Iterator[tuple[Span, Owner]]:
    wanted = {(one.key, one.value): one.span for one in case.configured}
    for namespace in case.node.namespaces.values():
        yield from _list_of(namespace, wanted)


def _list_of(
    namespace: Netns, wanted: Mapping[tuple[str, str], Span]
) -> Iterator[tuple[Span, Owner]]:
    """Yield the owners of a namespace's sysctls, devices and routes; `wanted` are the values that
    files set.
    """
    for key, fact in namespace.sysctls.items():
        if not isinstance(fact, Known) or fact.span is None:
            continue
        file = wanted.get((key, fact.value))
        owner = owner_of_key(key)
        if file is not None:
            yield fact.span, _of_file(file)
        elif owner is not None:
            yield fact.span, owner
    for link in namespace.links.items:
        if link.span is not None and (owner := owner_of_device(link.name)):
            yield link.span, owner
    for route in namespace.routes.items:
        if route.span is not None and (owner := owner_of_route(route)):
            yield route.span, owner


def _of_file(file: Span) -> Owner:
    return Owner(
        program="a sysctl file",
        ground=OwnerSign.FILE,
        sign=str(file),
        again=_OF_FILE,
        instead=str(file),
    )


def owners_of_changes(changes: Sequence[Change]) -> tuple[Owner, ...]:
    """Return who will undo changes: those whose rules and routes they delete, and do not put
    elsewhere.
    """
    moved = [change.rule[4:12] for change in changes if isinstance(change, InsertRule)]
    found: list[Owner | None] = []
    for change in changes:
        match change:
            case DeleteRule(rule=rule) if rule[4:12] not in moved:
                found.append(owner_of_rule(rule))
            case DeleteRoute(route=route):
                found.append(owner_of_route(route))
            case _:
                pass
    return tuple(dict.fromkeys(owner for owner in found if owner is not None))
