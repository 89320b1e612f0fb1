"""policy-drop: a base chain drops by default, and nothing in it accepts new connections.

What it is
    The policy of FORWARD, INPUT or OUTPUT is DROP, and the chain has no rule that accepts a new
    connection: none at all, or only rules for replies, loopback and ICMP.

Why it breaks
    The policy decides what no rule decides. FORWARD is traversed by every pod's packets to another
    node, to the outside world and back from a published port; INPUT by a container's packets to the
    host (its DNS server, its gateway, a database on the host); OUTPUT by the host's own packets to
    a container. The packets are dropped silently: the connection times out, or the host's own
    program reads "Operation not permitted". Docker sets FORWARD's policy to DROP when it turns on
    forwarding, and accepts only for its own bridges.

How to confirm
    iptables -nvL FORWARD | head -1        # "policy DROP 57 packets": it counts what it dropped
    iptables -S | grep '^-P'

How to fix
    Accept what belongs there, before the policy decides:
        iptables -I FORWARD 1 -i cni0 -j ACCEPT; iptables -I FORWARD 1 -o cni0 -j ACCEPT
    on a host with Docker in DOCKER-USER, which Docker leaves alone; or set the policy back to
    ACCEPT:
        iptables -P FORWARD ACCEPT

References
    iptables(8), "-P"; ipt_do_table (net/ipv4/netfilter/ip_tables.c); docs.docker.com "Packet
    filtering and firewalls"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import HOOKS, chains_named, lets_new_in
from podpath.checks.stated import statements_of
from podpath.checks.told import (
    ROUTERS,
    WORKLOADS,
    is_forwarded,
    is_forwarding_asked,
    list_failing,
)
from podpath.net.complaints import Circumstance
from podpath.net.failures import FailureKind
from podpath.net.firewall import RuleEdit, TypedRule
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Table

CATEGORIES = (Category.FORWARD_POLICY, Category.HOST_FIREWALL)
NAME = "policy-drop"
POSSIBLE = 0.4
BESIDE = 0.6
"""Where the chains of the engine that runs are not in the table."""
ASK = FollowUp(
    "whether this host forwards the connection that fails",
    "iptables -L FORWARD -n -v | head -2; tcpdump -ni any host ADDRESS",
    "the policy counts packets with each attempt: they are forwarded and end there",
)
DNS = 53
_OF_NAMES = frozenset({FailureKind.NAME_NOT_RESOLVED, FailureKind.NAME_SERVER_SILENT})
_SHUTS = frozenset({"DROP", "REJECT", "LOG", "RETURN"})
_ICMP = frozenset({"icmp", "1", "icmpv6", "ipv6-icmp", "58"})
_OPPOSITE = {"INPUT": "OUTPUT", "OUTPUT": "INPUT"}
"""Where the other direction of the host's own connections passes."""
_FIRST = ("OUTPUT", "INPUT", "FORWARD")
"""The order in which policies are told."""
BREAKS = {
    "FORWARD": (
        "forwarded traffic: packets from pods and containers to anything but their own bridge, "
        "and packets to them"
    ),
    "INPUT": "connections from pods, containers and other hosts to this host itself",
    "OUTPUT": "connections that this host itself opens, including those to its own containers",
}


def check(case: Case) -> Iterator[Finding]:
    """Report each base chain whose policy drops and that lets nothing new in, as an output shows it
    or as it was typed.
    """
    typed = _list_typed(case)
    for name in HOOKS:
        for table, chain in chains_named(case.node.host, "filter", name):
            if (
                chain.policy == "DROP"
                and chain.span is not None
                and not any(map(lets_new_in, chain.rules))
            ):
                found = _report(name, chain.span, _judge(chain), chain.packets or 0)
                if not _is_asked(case, name):
                    yield _doubt(found)
                elif _lacks_engine(case, table):
                    yield _doubt_backend(found, table)
                else:
                    yield found
    if typed.alone:
        yield _report_typed(case, typed.alone)
    if typed.beside:
        yield _report_beside(typed.beside)


def _is_asked(case: Case, name: str) -> bool:
    """Tell whether what fails may pass the chain: what the host forwards passes FORWARD alone, and
    what others open at the host passes INPUT.
    """
    if name == "FORWARD":
        return is_forwarding_asked(case)
    failing = tuple(list_failing(case))
    return not failing or not all(
        is_forwarded(one) or (name == "INPUT" and Circumstance.OUTGOING in one.circumstances)
        for one in failing
    )


def _doubt(finding: Finding) -> Finding:
    """Return it as what may matter."""
    reason = "Nothing says that what fails traverses this chain."
    return replace(
        finding,
        severity=Severity.RISK,
        certainty=POSSIBLE,
        repairs=(),
        asks=(ASK,),
        reasoning=(*finding.reasoning, reason),
    )


def _lacks_engine(case: Case, table: Table) -> bool:
    """Tell whether a listing of a whole table has no chain of an engine though containers or pods
    run: what runs them leaves some, so these stand in the other backend or in another namespace.
    """
    shown = [one for one in case.node.host.tables if one.name == table.name]
    both = any(one.flavour != table.flavour for one in shown if one.family == table.family)
    bare = set(table.chains) == set(_FIRST)
    return bare and not both and _has_workloads(case)


def _doubt_backend(finding: Finding, table: Table) -> Finding:
    """Return it as half of the story: both backends' tables are consulted, and one is not shown."""
    other = "iptables-legacy-save" if table.flavour == "nft" else "iptables-nft-save"
    return replace(
        finding,
        certainty=BESIDE,
        repairs=(),
        asks=(
            FollowUp(
                "whether the chains of what runs the containers stand in iptables' other backend",
                f"{other}; iptables-save",
                "they do: one backend accepts and the other's policy drops, so bring both into "
                "one; they do not: nothing accepts the traffic",
            ),
        ),
        reasoning=(
            *finding.reasoning,
            "The table has not one chain of what runs containers or pods, which leaves some.",
        ),
    )


def _judge(chain: Chain) -> float:
    """Say how sure it is: a whole chain without an accept is; a fragment is where the policy has
    dropped something.
    """
    return 1.0 if chain.complete or chain.packets else 0.7


def _report(name: str, span: Span, certainty: float, packets: int) -> Finding:
    counted = f": {packets} packets so far" if packets else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The policy of {name} is DROP, and no rule that the evidence shows lets a new "
            f"connection in{counted}."
        ),
        evidence=(span,),
        reasoning=("The policy of a base chain decides what none of its rules decides.",),
        breaks=(BREAKS[name],),
        repairs=(
            Repair(
                title=f"set the policy of {name} back to ACCEPT",
                commands=(f"iptables -P {name} ACCEPT",),
            ),
        ),
        prevention=(
            "Write the accepting rules into the firewall's own configuration before its policy "
            "drops."
        ),
        certainty=certainty,
        marks=("DROP",),
    )


class _TypedPolicies(NamedTuple):
    """The chains whose policy was set to drop, each with the command."""

    alone: Mapping[str, Span]
    """Where no command accepts what fails."""
    beside: Mapping[str, Span]
    """Where other commands accept what may be what fails."""


def _list_typed(case: Case) -> _TypedPolicies:
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
    return _TypedPolicies(
        {name: span for name, span in closed.items() if name not in beside},
        {name: span for name, span in closed.items() if name in beside},
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
    asked = [range_ for rule in telling for range_ in rule.sports or rule.dports]
    ports = _list_ports(case)
    if ports and any(port in range_ for port in ports for range_ in asked):
        return True
    return not _has_workloads(case) and any(
        not ports or not (rule.sports or rule.dports) for rule in telling
    )


def _list_ports(case: Case) -> frozenset[int]:
    """Return the ports of what fails: those that sentences and tries name, and that of names."""
    ports = {port for one in case.complaints for port in one.ports}
    ports |= {one.probe.dport for one in case.attempts if one.is_bad}
    ports |= {one.dport for one in case.unplaced}
    if any(one.failure in _OF_NAMES for one in list_failing(case)):
        ports.add(DNS)
    return frozenset(ports - {0})


def _has_workloads(case: Case) -> bool:
    """Tell whether the ticket speaks of pods, containers or guests."""
    ends = {end for one in case.complaints for end in (one.source, one.target)}
    return bool(ends & WORKLOADS or case.mentions & ROUTERS)


def _report_beside(typed: Mapping[str, Span]) -> Finding:
    """Report policies that drop what the commands beside them do not accept."""
    order = [name for name in _FIRST if name in typed]
    return Finding(
        check=NAME,
        severity=Severity.RISK,
        claim=(
            f"The policy of {' and '.join(order)} was set to DROP beside commands that accept "
            "something there: it drops what none of them takes."
        ),
        evidence=tuple(typed[name] for name in order),
        reasoning=("A policy holds for what no rule takes, whatever the order of the commands.",),
        breaks=tuple(BREAKS[name] for name in order),
        prevention="Log what falls to the policy (-j LOG as the last rule).",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                "which packets of the connection that fails fall to the policy",
                "; ".join(
                    f"iptables -A {name} -j LOG --log-prefix '{name}-policy: '" for name in order
                )
                + "; dmesg | grep policy:",
                "a line of the connection shows what no rule takes of it (a state of INVALID, "
                "another port); no line: it is lost elsewhere",
            ),
        ),
        marks=("DROP",),
    )


def _report_typed(case: Case, spans: Mapping[str, Span]) -> Finding:
    order = [name for name in _FIRST if name in spans]
    workloads = "FORWARD" in order or _has_workloads(case)
    what = "containers' packets" if workloads else "the traffic that fails"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The policy of {' and '.join(order)} was set to DROP, and none of the commands "
            f"accepts {what} there."
        ),
        evidence=tuple(spans[name] for name in order),
        reasoning=(
            (
                "The commands show what was done: packets that none of their rules matches are "
                "dropped silently."
            ),
        ),
        breaks=tuple(BREAKS[name] for name in order),
        repairs=tuple(
            Repair(
                title=f"set the policy of {name} back to ACCEPT",
                commands=(f"iptables -P {name} ACCEPT",),
            )
            for name in order
        ),
        prevention=(
            "Accept by device (-i docker0, -o docker0) in the script before the policy drops."
        ),
        marks=("DROP",),
    )
