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

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import HOOKS, chains_named, lets_new_in
from podpath.checks.stated import statements_of
from podpath.checks.told import is_forwarded, is_forwarding_asked, list_failing
from podpath.net.complaints import Circumstance
from podpath.net.firewall import RuleEdit, TypedRule
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.netfilter import Chain

CATEGORIES = (Category.FORWARD_POLICY, Category.HOST_FIREWALL)
NAME = "policy-drop"
POSSIBLE = 0.4
ASK = FollowUp(
    "whether this host forwards the connection that fails",
    "iptables -L FORWARD -n -v | head -2; tcpdump -ni any host ADDRESS",
    "the policy counts packets with each attempt: they are forwarded and end there",
)
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
        for _, chain in chains_named(case.node.host, "filter", name):
            if (
                chain.policy == "DROP"
                and chain.span is not None
                and not any(map(lets_new_in, chain.rules))
            ):
                found = _report(name, chain.span, _judge(chain), chain.packets or 0)
                yield found if _is_asked(case, name) else _doubt(found)
    if typed:
        yield _report_typed(typed)


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


def _list_typed(case: Case) -> tuple[tuple[str, Span], ...]:
    """List the chains whose policy was set to drop, where none of the typed rules lets everything
    or a container's device in.
    """
    policies: dict[str, Span | None] = {}
    for rule, stated in statements_of(case, TypedRule):
        if rule.table != "filter" or rule.chain not in HOOKS:
            continue
        if rule.action == RuleEdit.POLICY:
            policies[rule.chain] = stated.span if rule.target == "DROP" else None
        elif rule.action in {RuleEdit.APPEND, RuleEdit.INSERT} and _opens(rule):
            policies[rule.chain] = None
    return tuple((name, span) for name, span in policies.items() if span is not None)


def _opens(rule: TypedRule) -> bool:
    """Tell whether a rule lets in more than replies, loopback and single ports: everything, or
    everything of a device.
    """
    if rule.target in ("DROP", "REJECT", "LOG", "RETURN") or rule.follows:
        return False
    return rule.plain or (
        bool(rule.in_link or rule.out_link) and "lo" not in (rule.in_link, rule.out_link)
    )


def _report_typed(typed: tuple[tuple[str, Span], ...]) -> Finding:
    order = [name for name in ("OUTPUT", "INPUT", "FORWARD") if name in dict(typed)]
    spans = dict(typed)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The policy of {' and '.join(order)} was set to DROP, and none of the commands "
            "accepts containers' packets there."
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
