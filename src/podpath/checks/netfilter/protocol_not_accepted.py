"""protocol-not-accepted: INPUT drops a protocol without ports that the host's own programs need.

What it is
    INPUT ends in DROP or REJECT, and no rule above accepts what keepalived (VRRP, protocol 112), an
    IPIP device (protocol 4) or a GRE device (47) gets from the other hosts. Such packets belong to
    no connection that this host opened, and have no port that a rule could name.

Why it breaks
    A keepalived that hears no advertisement makes itself master: both hosts have the virtual
    address, and clients reach now one, now the other. A tunnel whose packets are dropped carries
    nothing from the other nodes.

How to confirm
    tcpdump -ni DEVICE 'ip proto 112 or ip proto 4 or ip proto 47'
    iptables -nvL INPUT --line-numbers       # which rule counts them

How to fix
    Accept the protocol from the other hosts, above the rule that drops: iptables -I INPUT -p vrrp
    -d 224.0.0.18 -j ACCEPT; iptables -I INPUT -p ipencap -s NODES -j ACCEPT; firewall-cmd
    --add-protocol=vrrp

References
    RFC 5798, 5.1.1; keepalived.conf(5); ipip_rcv (net/ipv4/ipip.c v6.12)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.netfilter.port_not_accepted import PortRefusal, find_input_refusal
from podpath.checks.overlays import list_cut_between_nodes
from podpath.checks.told import LOSSES, list_failing
from podpath.net import protocols
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.HOST_FIREWALL, Category.TUNNEL_BLOCKED)
NAME = "protocol-not-accepted"
LIKELY = 0.8
"""Which rules count the packets is not shown."""
QUOTED = 3
VRRP = 112
_KINDS = {"ipip": protocols.IPIP, "gre": protocols.GRE, "gretap": protocols.GRE}
_FELT = LOSSES | {FailureKind.SOMETIMES, FailureKind.WRONG_PEER, FailureKind.RESET}


class _NeededProtocol(NamedTuple):
    """A protocol that the host has to take from others."""

    number: int
    name: str
    who: str
    said: Span


def check(case: Case) -> Iterator[Finding]:
    """Report the first protocol that is needed and that INPUT takes before it is accepted."""
    for needed in _list_needed(case):
        found = find_input_refusal(case, needed.number, 0)
        if found is not None and not found.doubts:
            yield _report(needed, found)
            return


def _list_needed(case: Case) -> Iterator[_NeededProtocol]:
    for complaint in list_failing(case) if Technology.KEEPALIVED in case.mentions else ():
        yield _NeededProtocol(VRRP, "VRRP", "keepalived", complaint.span)
    for complaint in list_cut_between_nodes(case):
        for link in case.node.host.links.items:
            number = _KINDS.get(link.kind or "")
            if number is not None and link.span is not None and link.inferred is None:
                yield _NeededProtocol(
                    number, str(link.kind).upper(), str(link.name), complaint.span
                )


def _report(needed: _NeededProtocol, found: PortRefusal) -> Finding:
    accepting = (rule.span for rule in found.accepting[:QUOTED])
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"INPUT does not accept {needed.name} (protocol {needed.number}), which {needed.who} "
            f"needs to hear the other hosts: it reaches {found.target}."
        ),
        evidence=(found.span, *accepting, needed.said),
        reasoning=("Rules are tried in order, and none shown above accepts the protocol.",),
        breaks=(f"what {needed.who} receives from other hosts",),
        prevention="Accept the protocol where the rules of the host are configured.",
        certainty=LIKELY,
        asks=(
            FollowUp(
                f"whether packets of {needed.name} arrive and are dropped",
                f"tcpdump -ni any 'ip proto {needed.number}'; iptables -nvL INPUT --line-numbers",
                "they arrive, and the last rule or the policy counts them: accept the protocol",
            ),
        ),
        marks=(found.target,),
        proves=_FELT,
    )
