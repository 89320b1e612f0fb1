"""masquerade-pods: Docker masquerades pod traffic that the network plugin routes untranslated.

What it is
    Docker's bridge carries the pods (flannel with Docker, kubenet, --bip of the node's pod range),
    and Docker runs with --ip-masq=true: its rule `-s RANGE ! -o docker0 -j MASQUERADE` translates
    whatever leaves on another device, including flannel.1 or the route to another node.

Why it breaks
    Pods on other nodes see the address of the sending node (its flannel.1 address, .0) instead of
    the pod's: allow lists, NetworkPolicies, audit logs and sessions keyed by address go wrong;
    replies need the conntrack entry of the translation.

How to confirm
    iptables -t nat -S POSTROUTING; cat /run/flannel/docker      # --ip-masq=true

How to fix
    Let flanneld masquerade (--ip-masq) instead of Docker: mk-docker-opts.sh then writes
    --ip-masq=false; restart both, and delete the rule: iptables -t nat -D POSTROUTING -s RANGE ! -o
    docker0 -j MASQUERADE.

References
    flannel's Documentation/running.md ("Docker integration"); dockerd(8), --ip-masq
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.firewall import chains_named
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case
from podpath.node.netfilter import Rule
from podpath.node.netfilter_text import emit_rule

CATEGORIES = (Category.MASQUERADE_UNWANTED,)
NAME = "masquerade-pods"


def check(case: Case) -> Iterator[Finding]:
    """Report Docker's rule where Docker is told to masquerade the range that flannel gave it."""
    told = [message for message in case.messages if message.kind is MessageKind.DOCKER_MASQUERADES]
    if not told:
        return
    for _, chain in chains_named(case.node.host, "nat", "POSTROUTING"):
        for rule in chain.rules:
            if _is_dockers(rule):
                yield _report(rule, told[0])


def _is_dockers(rule: Rule) -> bool:
    masquerades = rule.target is not None and rule.target.name == "MASQUERADE"
    return (
        masquerades
        and rule.src is not None
        and rule.out_link is not None
        and rule.out_link.negated
        and rule.dst is None
    )


def _report(rule: Rule, told: Message) -> Finding:
    source = rule.src.prefix if rule.src is not None else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Docker masquerades everything from the pods' range {source} that leaves on a "
            "device other than its bridge, so other nodes see the node's address in place of "
            "the pod's."
        ),
        evidence=(rule.span, told.span),
        reasoning=("The rule has no exception for the pods of other nodes.",),
        breaks=("whatever tells this node's pods apart by their source address",),
        repairs=(
            Repair(
                title="let flannel masquerade instead of Docker",
                commands=(f"iptables -t nat {emit_rule(rule, '-D')}",),
            ),
        ),
        prevention="Run flanneld with --ip-masq and Docker with --ip-masq=false.",
        marks=("MASQUERADE", "--ip-masq=true"),
    )
