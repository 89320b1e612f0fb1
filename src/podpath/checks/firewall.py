"""What checks of a firewall ask of rules: what a rule lets in, who put it there, which chains an
output shows of which hook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

from podpath.checks.owners import owner_of_rule
from podpath.checks.topology import option_values
from podpath.net.provenance import Known
from podpath.node.netfilter import Chain, Rule, Table
from podpath.node.node import Netns

T = TypeVar("T")

HOOKS = ("FORWARD", "INPUT", "OUTPUT")
DROPS = frozenset({"DROP", "REJECT"})
_LEAVES = frozenset(
    {
        "RETURN",
        "LOG",
        "NFLOG",
        "MARK",
        "CONNMARK",
        "AUDIT",
        "TRACE",
        "CT",
        "TCPMSS",
        "CHECKSUM",
        *DROPS,
    }
)
"""Targets that let nothing in."""
_FOLLOWING = frozenset({"ESTABLISHED", "RELATED", "DNAT", "SNAT", "UNTRACKED"})
_ICMP = frozenset({1, 58})
_DEVICES = ("in-interface", "out-interface")
_REJECTING = re.compile(r"ufw6?-reject-(?:input|forward|output)$")
"""Chains that hold nothing but the reject that ufw is set to, or nothing at all."""


def tables_named(namespace: Netns, name: str) -> Iterator[Table]:
    """Yield every table of a name, of both families and flavors."""
    for netfilter in namespace.netfilter.values():
        yield from (table for table in netfilter.tables if table.name == name)


def chains_named(namespace: Netns, table: str, name: str) -> Iterator[tuple[Table, Chain]]:
    """Yield every state of a chain that outputs agree on, or that the likeliest of them shows."""
    for one in tables_named(namespace, table):
        fact = one.chains.get(name)
        if fact is not None:
            yield one, fact.value if isinstance(fact, Known) else fact.options[0].value


def chains_of(namespace: Netns, table: str) -> Iterator[tuple[Table, Chain]]:
    """Yield every chain of the tables of a name."""
    for one in tables_named(namespace, table):
        for fact in one.chains.values():
            yield one, fact.value if isinstance(fact, Known) else fact.options[0].value


def is_plain(rule: Rule) -> bool:
    """Tell whether every packet takes the rule."""
    selectors = (rule.src, rule.dst, rule.protocol, rule.in_link, rule.out_link, rule.fragment)
    return (
        not rule.unread
        and all(selector is None for selector in selectors)
        and all(match.name == "comment" for match in rule.matches)
    )


def is_plain_where_shown(rule: Rule) -> bool:
    """Tell whether every packet takes the rule as far as a listing without devices shows it."""
    return rule.hidden == _DEVICES and is_plain(rule._replace(unread="", hidden=()))


def ends(rule: Rule) -> bool:
    """Tell whether a rule drops or rejects what it takes."""
    return rule.target is not None and rule.target.name in DROPS


def rejects_by_name(rule: Rule) -> bool:
    """Tell whether a rule jumps to a chain in which its owner writes nothing but a reject."""
    return rule.target is not None and _REJECTING.match(rule.target.name) is not None


def lets_new_in(rule: Rule) -> bool:
    """Tell whether a rule may let a new connection in: an accept that is no mere return path, or a
    jump to a chain that may.
    """
    if rule.target is None or rule.target.name in _LEAVES or rejects_by_name(rule):
        return False
    if rule.in_link is not None and rule.in_link.name == "lo" and not rule.in_link.negated:
        return False
    if rule.out_link is not None and rule.out_link.name == "lo" and not rule.out_link.negated:
        return False
    if rule.protocol is not None and rule.protocol.number in _ICMP and not rule.protocol.negated:
        return False
    states = {*option_values(rule, "conntrack", "ctstate"), *option_values(rule, "state", "state")}
    return not (states and states <= _FOLLOWING)


def owner_of(rule: Rule) -> str:
    """Name who writes such rules; empty where nothing tells."""
    owner = owner_of_rule(rule)
    return owner.program if owner is not None else ""


def port_of(rule: Rule) -> str:
    """Return the destination port that a rule asks for, as spelled; empty where it asks for
    none.
    """
    for match in rule.matches:
        for option in match.options:
            if option.name in ("dport", "dports") and not option.negated:
                return ",".join(option.values)
    return ""
