"""forwarded-port-dropped: a rule drops what the host forwards for the very port that fails.

What it is
    FORWARD or DOCKER-USER has a DROP or REJECT for the port that pods, containers or guests do not
    reach, and no rule above it takes such packets.

Why it breaks
    What a workload sends to another machine, and its lookups by a name server elsewhere, traverse
    FORWARD, from which Docker jumps to DOCKER-USER first. A rule that was meant for other traffic
    matches them, too, unless it names a device, a source or a destination.

How to confirm
    iptables -nvL DOCKER-USER --line-numbers; iptables -nvL FORWARD --line-numbers

How to fix
    Delete the rule, or limit it to what it is meant for: -i DEVICE for what comes in from outside,
    -s or -d for one source or destination.

References
    iptables(8); Docker, Packet filtering and firewalls, the DOCKER-USER chain
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.asked_ports import holds_port
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import chains_named, ends, port_of
from podpath.checks.stated import is_inner_bridge
from podpath.checks.told import LOSSES, WORKLOADS, list_failing
from podpath.checks.topology import option_values
from podpath.net import protocols
from podpath.net.complaints import EndKind
from podpath.net.failures import NAMES, FailureKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule

CATEGORIES = (Category.FORWARD_POLICY, Category.HOST_FIREWALL, Category.RULE_ORDER)
NAME = "forwarded-port-dropped"
DNS_PORT = 53
POSSIBLE = 0.6
"""Where a rule above it may take the packets."""
_CHAINS = ("DOCKER-USER", "FORWARD")
_AWAY = frozenset({None, EndKind.OUTSIDE, EndKind.NAME_SERVER, EndKind.GUEST, EndKind.NODE})
"""Whom a workload reaches by forwarding: not its neighbors, nor services, whose port may differ."""
_OLD = frozenset({"ESTABLISHED", "RELATED", "INVALID", "UNTRACKED"})
_PLAIN = frozenset({"comment", "tcp", "udp", "multiport", "conntrack", "state"})
_REJECTED = frozenset(
    {FailureKind.REFUSED, FailureKind.NO_ROUTE_TO_HOST, FailureKind.NETWORK_UNREACHABLE}
)
ASK = FollowUp(
    "whether the rule counts the packets of what fails",
    "iptables -nvL DOCKER-USER --line-numbers; iptables -nvL FORWARD --line-numbers",
    "its counter grows with each attempt: delete or limit the rule",
)


class _UnreachedPort(NamedTuple):
    """What people say that a workload does not reach."""

    port: int
    protocol: int | None
    failure: FailureKind | None
    span: Span


def check(case: Case) -> Iterator[Finding]:
    """Report the first such rule; possible only where one above it may take the packets."""
    wanted = tuple(_list_wanted(case))
    for name in _CHAINS:
        for _, chain in chains_named(case.node.host, "filter", name):
            for one in wanted:
                rule = _find_rule(chain, one)
                if rule is not None:
                    yield _report(rule, one, sure=not _may_pass(chain, rule, one))
                    return


def _list_wanted(case: Case) -> Iterator[_UnreachedPort]:
    names = {FailureKind.NAME_NOT_RESOLVED, *NAMES}
    for told in list_failing(case):
        if told.source not in WORKLOADS or told.target not in _AWAY:
            continue
        felt = told.failure is None or told.failure in LOSSES or told.failure in _REJECTED
        for port in told.ports if felt else ():
            yield _UnreachedPort(port, told.protocol, told.failure, told.span)
        if told.failure in names and not told.ports:
            yield _UnreachedPort(DNS_PORT, None, told.failure, told.span)


def _find_rule(chain: Chain, wanted: _UnreachedPort) -> Rule | None:
    """Return the first rule that drops or rejects the port, whoever uses it."""
    return next((rule for rule in chain.rules if ends(rule) and _takes(rule, wanted)), None)


def _takes(rule: Rule, wanted: _UnreachedPort) -> bool:
    """Tell whether a rule that names ports takes a new connection of a workload to this one."""
    ports = port_of(rule)
    if not ports or not all(part.replace(":", "").isdecimal() for part in ports.split(",")):
        return False
    states = {*option_values(rule, "conntrack", "ctstate"), *option_values(rule, "state", "state")}
    selected = (rule.src, rule.dst, rule.fragment, rule.out_link)
    link = rule.in_link
    inner = link is None or (not link.negated and is_inner_bridge(link.name))
    other = any(match.name not in _PLAIN for match in rule.matches)
    if other or not inner or any(one is not None for one in selected) or rule.unread:
        return False
    return (
        holds_port(ports, wanted.port)
        and _is_of_protocol(rule, wanted)
        and not (states and states <= _OLD)
    )


def _is_of_protocol(rule: Rule, wanted: _UnreachedPort) -> bool:
    """Tell whether a rule is for the protocol: a lookup begins with UDP."""
    if rule.protocol is None or rule.protocol.negated:
        return False
    own = wanted.protocol
    if own is None:
        own = protocols.UDP if wanted.port == DNS_PORT else protocols.TCP
    return rule.protocol.number == own


def _may_pass(chain: Chain, rule: Rule, wanted: _UnreachedPort) -> bool:
    """Tell whether a rule above may take what fails: one that accepts or returns, or leads to
    another chain, and is not for another port.
    """
    above = (one for one in chain.rules if one.position < rule.position)
    return any(_may_take(one, wanted) for one in above)


def _may_take(rule: Rule, wanted: _UnreachedPort) -> bool:
    states = {*option_values(rule, "conntrack", "ctstate"), *option_values(rule, "state", "state")}
    name = rule.target.name if rule.target is not None else ""
    if name in {"", "LOG", "NFLOG", "MARK", "TCPMSS"} or ends(rule) or (states and states <= _OLD):
        return False
    ports = port_of(rule)
    return not ports or holds_port(ports, wanted.port)


def _report(rule: Rule, wanted: _UnreachedPort, *, sure: bool) -> Finding:
    target = rule.target.name if rule.target is not None else "DROP"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A rule of {rule.chain} ends what the host forwards to port {wanted.port} "
            f"({target}), its pods' and containers' connections included."
        ),
        evidence=(rule.span, wanted.span),
        reasoning=("What a workload sends beyond the host traverses FORWARD.",),
        breaks=(f"connections of pods, containers and guests to port {wanted.port} elsewhere",),
        repairs=(
            Repair(
                title="delete the rule, or limit it to what comes in from outside",
                commands=(f"iptables -D {rule.chain} {rule.position}",),
            ),
        )
        if sure
        else (),
        prevention="Name a device, a source or a destination in rules of FORWARD.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        marks=(target,),
        explains=frozenset({*LOSSES, *NAMES} if target == "DROP" else {*LOSSES, *_REJECTED}),
    )
