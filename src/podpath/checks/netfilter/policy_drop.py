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
        iptables -I FORWARD 1 -i BRIDGE -j ACCEPT; iptables -I FORWARD 1 -o BRIDGE -j ACCEPT
    (on a host with Docker, in DOCKER-USER, which Docker leaves alone); or set the policy back to
    ACCEPT:
        iptables -P FORWARD ACCEPT

References
    iptables(8), "-P"; ipt_do_table (net/ipv4/netfilter/ip_tables.c); docs.docker.com "Packet
    filtering and firewalls"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import HOOKS, chains_named, lets_new_in
from podpath.checks.stated import has_inner_bridge
from podpath.checks.told import (
    BEHIND,
    find_told,
    is_forwarder,
    is_said_to_recur,
    is_with_own_host,
    list_failing,
    may_pass,
)
from podpath.checks.typed_policies import TypedPolicies, has_workloads, list_typed_policies
from podpath.net.complaints import Circumstance, EndKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Table
from podpath.node.node import Netns

CATEGORIES = (Category.FORWARD_POLICY, Category.HOST_FIREWALL)
NAME = "policy-drop"
POSSIBLE = 0.4
LIKELY = 0.8
_OF_HOST = frozenset({EndKind.POD, EndKind.CONTAINER})
BESIDE = 0.6
"""Where the chains of the engine that runs are not in the table."""
ASK = FollowUp(
    "whether this host forwards the connection that fails",
    "iptables -L FORWARD -n -v | head -2; tcpdump -ni any host ADDRESS",
    "the policy counts packets with each attempt: they are forwarded and end there",
)
ASK_INPUT = FollowUp(
    "whether what fails comes in to this host",
    "iptables -L INPUT -n -v",
    "the policy counts packets with each attempt: they come in and end there",
)
_FIRST = ("OUTPUT", "INPUT", "FORWARD")
"""The order in which policies are told."""
_UNSAID = "Nothing says that what fails traverses this chain."
_AT_TIMES = "A policy always drops, and what fails does so at times only."
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
    typed = list_typed_policies(case)
    for name in HOOKS:
        for table, chain in chains_named(case.node.host, "filter", name):
            if (
                chain.policy == "DROP"
                and chain.span is not None
                and not any(map(lets_new_in, chain.rules))
            ):
                found = _report(name, chain.span, _judge(chain), chain.packets or 0)
                own = name == "FORWARD" and _is_of_own_traffic(case, table)
                if own or not may_pass(case, name):
                    yield _doubt(found, _UNSAID)
                elif is_said_to_recur(case):
                    yield _doubt(found, _AT_TIMES)
                elif _is_bare(case.node.host, table) and (
                    has_workloads(case) or is_forwarder(case)
                ):
                    # what runs containers leaves chains: in the other backend or another namespace
                    yield _doubt_backend(found, table)
                else:
                    yield found
    passed = {name: span for name, span in typed.alone.items() if _is_meant(case, typed, name)}
    if passed:
        found = _report_typed(case, passed)
        yield found if set(passed) != {"INPUT"} or _comes_in(case) else _doubt_typed(found)
    if typed.beside:
        yield _report_beside(typed.beside)
    if not passed and not any(True for _ in chains_named(case.node.host, "filter", "INPUT")):
        yield from _find_told_input(case)


def _find_told_input(case: Case) -> Iterator[Finding]:
    """Report that people say that INPUT drops by default, where a workload does not reach its own
    host and no output shows the chain.
    """
    told = find_told(case, Circumstance.INPUT_DROPS)
    inner = [one for one in list_failing(case) if one.source in _OF_HOST]
    meant = [one for one in inner if is_with_own_host(one) or "gateway" in one.spoken]
    if told is None or not meant:
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "INPUT drops by default, by the ticket's own words: what a container sends to the host "
            "itself comes in there, and needs a rule that accepts it."
        ),
        evidence=(told, meant[0].span),
        reasoning=("What is forwarded to others passes FORWARD, and so works.",),
        breaks=(BREAKS["INPUT"],),
        prevention="Accept what comes in from the bridges of containers.",
        certainty=LIKELY,
        asks=(ASK_INPUT,),
        marks=("INPUT",),
    )


def _is_of_own_traffic(case: Case, table: Table) -> bool:
    """Tell whether a ticket with words is about a host that forwards for nobody, as far as anything
    says: no sentence that fails speaks of what is behind it, no chain or bridge is of what runs
    containers.
    """
    failing = tuple(list_failing(case))
    behind = any({one.source, one.target} & BEHIND for one in failing)
    bridged = has_inner_bridge(case.node.host)
    runs = bridged or set(table.chains) - set(_FIRST) or len(case.node.namespaces) > 1
    told = find_told(case, Circumstance.ROUTES_FOR_OTHERS) is not None
    spoken = bool(case.complaints or case.mentions - {Technology.IPTABLES})
    return spoken and not (behind or runs or told or has_workloads(case) or is_forwarder(case))


def _is_meant(case: Case, typed: TypedPolicies, chain: str) -> bool:
    """Tell whether what fails may pass a chain whose policy was typed: something is said to fail,
    or a ticket is all commands; FORWARD needs somebody that the host forwards for, and INPUT that
    lets replies in what others open.
    """
    failing = tuple(list_failing(case))
    if not case.complaints and not case.mentions - {Technology.IPTABLES}:
        return True
    if not failing or not may_pass(case, chain):
        return False
    if chain == "FORWARD":
        behind = any(one.source in BEHIND and one.target is EndKind.OUTSIDE for one in failing)
        routes = find_told(case, Circumstance.ROUTES_FOR_OTHERS) is not None
        return has_workloads(case) or behind or routes
    comes = any(one.target is not EndKind.OUTSIDE for one in failing)
    return comes or chain not in typed.following


def _comes_in(case: Case) -> bool:
    """Tell whether a ticket is all commands, or says of what fails that it comes to the host: from
    outside, to the host or what runs on it, or for a port.
    """
    failing = tuple(list_failing(case))
    return (
        has_workloads(case)
        or not failing
        or any(
            one.source is EndKind.OUTSIDE or one.target not in {None, EndKind.OUTSIDE} or one.ports
            for one in failing
        )
    )


def _doubt_typed(finding: Finding) -> Finding:
    """Return it as possible: what fails may be what the host itself opens."""
    return replace(finding, certainty=POSSIBLE, repairs=(), asks=(ASK_INPUT,))


def _doubt(finding: Finding, reason: str) -> Finding:
    """Return it as what may matter."""
    return replace(
        finding,
        severity=Severity.RISK,
        certainty=POSSIBLE,
        repairs=(),
        asks=(ASK,),
        reasoning=(*finding.reasoning, reason),
    )


def _is_bare(host: Netns, table: Table) -> bool:
    """Tell whether a listing of a whole table has the base chains alone, and no output shows the
    table of the other backend.
    """
    shown = [one for one in host.tables if one.name == table.name]
    both = any(one.flavour != table.flavour for one in shown if one.family == table.family)
    return set(table.chains) == set(_FIRST) and not both


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
        asks=() if certainty == 1 else (_ask_counter(name),),
        marks=("DROP",),
    )


def _ask_counter(name: str) -> FollowUp:
    return FollowUp(
        f"whether {name} drops what fails",
        f"iptables -nvL {name} | head -1 (before and after an attempt)",
        "policy DROP whose packets grow with each attempt: this is the cause",
    )


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
    workloads = "FORWARD" in order or has_workloads(case)
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
