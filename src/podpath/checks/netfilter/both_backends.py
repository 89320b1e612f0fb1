"""both-backends: iptables-legacy and iptables-nft both hold rules.

What it is
    The two flavors of iptables write to different places in the kernel: legacy tables and
    nf_tables. Each shows only its own rules, but the kernel runs both, at the same hooks.

Why it breaks
    Both must accept a packet. A DROP (or a DROP policy) in the flavor that nobody looks at ends it,
    and one that `iptables -D` cannot find stays forever. It happens when the host's tool and the
    one in a container's image (kube-proxy, the CNI plugin) differ, or after an upgrade of the
    distribution.

How to confirm
    iptables-legacy-save | grep -c '^-A'; iptables-nft-save | grep -c '^-A'
    update-alternatives --display iptables

How to fix
    Let everything use one flavor, then flush the other: for legacy
        iptables-legacy-save > /root/legacy.rules
        for t in raw mangle nat filter; do iptables-legacy -t $t -F; iptables-legacy -t $t -X; done
    (set the policies to ACCEPT first: iptables-legacy -P FORWARD ACCEPT), or reboot after the
    switch.

References
    iptables(8), iptables-nft(8); the iptables-wrappers script of Kubernetes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import INNER, LOSSES, list_lost
from podpath.net.addresses import Family
from podpath.net.provenance import Known
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Netfilter, Rule

CATEGORIES = (Category.BACKEND_MISMATCH,)
NAME = "both-backends"


def check(case: Case) -> Iterator[Finding]:
    """Report a namespace of the host in which both flavors hold rules."""
    for family, netfilter in case.node.host.netfilter.items():
        legacy, modern = _first_rule(netfilter, "legacy"), _first_rule(netfilter, "nft")
        if legacy is not None and modern is not None:
            yield _report(family, legacy, modern)
        yield from _find_apart(case, netfilter)


def _find_apart(case: Case, netfilter: Netfilter) -> Iterator[Finding]:
    """Report a base chain that drops in one flavor and accepts in the other, where something is
    said to get no answer: possible, since the one that drops may accept by a rule.
    """
    lost = list_lost(case)
    policies: dict[str, dict[str, Chain]] = {}
    for table in netfilter.tables:
        for name, fact in table.chains.items() if table.name == "filter" else ():
            if isinstance(fact, Known) and fact.value.policy and fact.value.span is not None:
                policies.setdefault(name, {})[table.flavour] = fact.value
    for name, shown in policies.items():
        drops = {flavour: chain for flavour, chain in shown.items() if chain.policy == "DROP"}
        if lost and len(shown) > 1 and len(drops) == 1:
            found = _report_apart(name, *drops.popitem(), shown)
            inner = any({one.source, one.target} & INNER for one in lost)
            forwarded = name == "FORWARD" and inner
            yield replace(found, proves=LOSSES) if forwarded else found


def _report_apart(name: str, flavour: str, drops: Chain, shown: Mapping[str, Chain]) -> Finding:
    spans = (drops.span, *(chain.span for chain in shown.values() if chain is not drops))
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{name} drops by its policy in iptables-{flavour} and accepts in the other flavor: "
            "rules added there open nothing."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=("The kernel runs both flavors, and both must accept a packet.",),
        breaks=(f"packets that traverse {name} and that no rule of iptables-{flavour} accepts",),
        prevention="Let the host and every container that writes rules use the same flavor.",
        certainty=0.7,
        asks=(
            FollowUp(
                f"which rules of {name} accept in each of the two flavors",
                f"iptables-nft-save | grep {name}; iptables-legacy-save | grep {name}; iptables "
                "--version; update-alternatives --display iptables",
                f"no rule of iptables-{flavour} accepts what fails: it is dropped there",
            ),
        ),
        marks=("DROP",),
    )


def _first_rule(netfilter: Netfilter, flavour: str) -> Rule | None:
    for table in netfilter.tables:
        if table.flavour == flavour:
            for fact in table.chains.values():
                if isinstance(fact, Known) and len(fact.value.rules):
                    first: Rule = fact.value.rules[0]
                    return first
    return None


def _report(family: Family, legacy: Rule, modern: Rule) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.RISK,
        claim=(
            f"Both iptables-legacy and iptables-nft hold IPv{family} rules, and the kernel runs "
            "both."
        ),
        evidence=(legacy.span, modern.span),
        reasoning=(
            (
                "A rule in either can drop a packet that the other accepts, and each tool shows "
                "only its own rules."
            ),
        ),
        breaks=("nothing by itself, but the other flavor may drop what one accepts",),
        prevention="Let the host and every container that writes rules use the same flavor.",
    )
