"""What typed commands of iptables leave of a connection: the chains whose policy they set to DROP,
and whether other commands accept what fails there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podpath.checks.firewall import HOOKS
from podpath.checks.stated import statements_of
from podpath.checks.told import ROUTERS, WORKLOADS, list_failing
from podpath.net.failures import FailureKind
from podpath.net.firewall import RuleEdit, TypedRule
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

DNS = 53
_RUNNERS = ROUTERS - {
    Technology.SECOND_INTERFACE,
    Technology.OPENVPN,
    Technology.WIREGUARD,
    Technology.BRIDGE,
}
"""What runs containers, pods or guests."""
_OF_NAMES = frozenset({FailureKind.NAME_NOT_RESOLVED, FailureKind.NAME_SERVER_SILENT})
_SHUTS = frozenset({"DROP", "REJECT", "LOG", "RETURN"})
_ICMP = frozenset({"icmp", "1", "icmpv6", "ipv6-icmp", "58"})
_OPPOSITE = {"INPUT": "OUTPUT", "OUTPUT": "INPUT"}
"""Where the other direction of the host's own connections passes."""


class TypedPolicies(NamedTuple):
    """The chains whose policy was set to drop, each with the command."""

    alone: Mapping[str, Span]
    """Where no command accepts what fails."""
    beside: Mapping[str, Span]
    """Where other commands accept what may be what fails."""
    following: frozenset[str] = frozenset()
    """The chains in which a command accepts replies."""


def list_typed_policies(case: Case) -> TypedPolicies:
    """List the chains whose policy was set to drop, where none of the typed rules, before it or
    behind it, lets everything or a container's device in.
    """
    policies: dict[str, Span | None] = {}
    rules: dict[str, list[TypedRule]] = {name: [] for name in HOOKS}
    for rule, stated in statements_of(case, TypedRule):
        if rule.table != "filter" or rule.chain not in HOOKS:
            continue
        if rule.action == RuleEdit.POLICY:
            policies[rule.chain] = stated.span if rule.target == "DROP" else None
        elif rule.action in {RuleEdit.APPEND, RuleEdit.INSERT} and rule.target not in _SHUTS:
            rules[rule.chain].append(rule)
    closed = {
        name: span
        for name, span in policies.items()
        if span is not None and not any(map(_opens, rules[name]))
    }
    accepted = {name for name in HOOKS if _is_accepted(case, rules[name])}
    following = {name for name in HOOKS if _follows(rules[name])}
    replied = {name for name in following if _OPPOSITE.get(name) in accepted}
    beside = accepted | replied
    return TypedPolicies(
        {name: span for name, span in closed.items() if name not in beside},
        {name: span for name, span in closed.items() if name in beside},
        frozenset(following),
    )


def _follows(rules: Sequence[TypedRule]) -> bool:
    """Tell whether one of the rules is about replies."""
    return any(rule.follows for rule in rules)


def _opens(rule: TypedRule) -> bool:
    """Tell whether a rule lets in more than replies, loopback and single ports: everything, or
    everything of a device.
    """
    if rule.follows:
        return False
    return rule.plain or (bool(rule.in_link or rule.out_link) and not _is_of_loopback(rule))


def _is_of_loopback(rule: TypedRule) -> bool:
    return "lo" in (rule.in_link, rule.out_link)


def _is_accepted(case: Case, rules: Sequence[TypedRule]) -> bool:
    """Tell whether a rule accepts a port of what fails; or any port or network, where neither
    ports nor containers are said to be what fails.
    """
    telling = [
        rule
        for rule in rules
        if not _is_of_loopback(rule)
        and rule.protocol not in _ICMP
        and (rule.sports or not rule.follows)
    ]
    if any(map(_is_by_other_means, telling)):
        return True
    asked = [range_ for rule in telling for range_ in rule.sports or rule.dports]
    ports = _list_ports(case)
    if ports and any(port in range_ for port in ports for range_ in asked):
        return True
    return not has_workloads(case) and any(
        not ports or not (rule.sports or rule.dports) for rule in telling
    )


def _is_by_other_means(rule: TypedRule) -> bool:
    """Tell whether a rule accepts by something else than ports, sources and devices, which may hold
    of anything (`-m physdev --physdev-is-bridged`).
    """
    known = rule.sports or rule.dports or rule.src or rule.in_link or rule.out_link
    return not (known or rule.plain or rule.follows or rule.protocol)


def _list_ports(case: Case) -> frozenset[int]:
    """Return the ports of what fails: those that sentences and tries name, and that of names; none
    where a rule redirects ports, since INPUT sees others than are asked for.
    """
    if any(rule.target == "REDIRECT" for rule, _ in statements_of(case, TypedRule)):
        return frozenset()
    ports = {port for one in case.complaints for port in one.ports}
    ports |= {one.probe.dport for one in case.attempts if one.is_bad}
    ports |= {one.dport for one in case.unplaced}
    if any(one.failure in _OF_NAMES for one in list_failing(case)):
        ports.add(DNS)
    return frozenset(ports - {0})


def has_workloads(case: Case) -> bool:
    """Tell whether the ticket speaks of pods, containers or guests, or of what runs them."""
    ends = {end for one in case.complaints for end in (one.source, one.target)}
    return bool(ends & WORKLOADS or case.mentions & _RUNNERS)
