"""masquerade-range: the MASQUERADE rule of a bridge names a range that the bridge is not in.

What it is
    `-s 172.17.0.0/16 ! -o docker0 -j MASQUERADE` exists, but docker0 (or cni0) has an address in
    another range: the rule is left over from before the range changed, or was written by hand.

Why it breaks
    Packets from the bridge's containers leave with their private source, and nobody outside can
    reply to them. Names do not resolve and downloads time out; other containers on the host are
    reachable.

How to confirm
    iptables -t nat -nvL POSTROUTING; ip -4 addr show docker0

How to fix
    iptables -t nat -A POSTROUTING -s RANGE ! -o BRIDGE -j MASQUERADE, or restart the program that
    owns the bridge.

References
    iptables-extensions(8), MASQUERADE
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.firewall import chains_named
from podpath.checks.topology import bridge_subnets
from podpath.net.addresses import IfName, Prefix
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule

CATEGORIES = (Category.MASQUERADE_MISSING,)
NAME = "masquerade-range"


def check(case: Case) -> Iterator[Finding]:
    """Report a rule for all but one bridge that does not cover the bridge's own range, where no
    other rule does.
    """
    for _, chain in chains_named(case.node.host, "nat", "POSTROUTING"):
        for rule in chain.rules:
            if not _is_for_bridge(rule) or rule.out_link is None or rule.src is None:
                continue
            for subnet in bridge_subnets(case.node.host, IfName(rule.out_link.name)):
                if not any(_covers(other, subnet) for other in _translating(chain)):
                    yield _report(case, rule, subnet, sure=chain.complete)


def _is_for_bridge(rule: Rule) -> bool:
    negated = rule.out_link is not None and rule.out_link.negated and not rule.out_link.wildcard
    return (
        negated
        and rule.target is not None
        and rule.target.name == "MASQUERADE"
        and rule.src is not None
    )


def _translating(chain: Chain) -> Iterator[Rule]:
    """Yield the rules that may translate a container's packets, jumps to chains that may among
    them.
    """
    for rule in chain.rules:
        if rule.target is not None and rule.target.name not in (
            "RETURN",
            "LOG",
            "ACCEPT",
            "KUBE-POSTROUTING",
        ):
            yield rule


def _covers(rule: Rule, subnet: Prefix) -> bool:
    return (
        rule.src is None or rule.src.negated or rule.src.prefix.covers(subnet) or bool(rule.unread)
    )


def _report(case: Case, rule: Rule, subnet: Prefix, *, sure: bool) -> Finding:
    name = rule.out_link.name if rule.out_link is not None else ""
    named = rule.src.prefix if rule.src is not None else ""
    addresses = [
        item
        for item in case.node.host.addresses.items
        if item.link == name and item.span is not None
    ]
    spans = list_spans(addresses)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The MASQUERADE rule of {name} is for {named}, but {name} is in {subnet}: packets "
        "from its containers leave untranslated.",
        evidence=(rule.span, *spans),
        reasoning=(
            f"{named} does not contain {subnet}, and no other rule of the chain translates it.",
        ),
        breaks=(f"connections from {subnet} to the outside",),
        repairs=(
            Repair(
                title="masquerade the bridge's own range",
                commands=(f"iptables -t nat -A POSTROUTING -s {subnet} ! -o {name} -j MASQUERADE",),
            ),
        ),
        prevention="Restart the program that owns the bridge after its range changes.",
        certainty=1.0 if sure else 0.7,
        marks=(str(named),),
    )
