"""both-backends: iptables-legacy and iptables-nft both hold rules.

What it is
    The two flavors of iptables write to different places in the kernel: legacy tables and
    nf_tables. Each shows its own rules only, but the kernel runs both, at the same hooks.

Why it breaks
    A packet has to pass both. A DROP (or a DROP policy) in the flavor that nobody looks at ends
    it, and one that `iptables -D` cannot find stays for ever. It comes about when the host's tool
    and the one in a container's image (kube-proxy, the CNI plugin) differ, or after an upgrade of
    the distribution.

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

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.net.addresses import Family
from podpath.net.provenance import Known
from podpath.node.case import Case
from podpath.node.netfilter import Netfilter, Rule

CATEGORIES = (Category.BACKEND_MISMATCH,)
NAME = "both-backends"


def check(case: Case) -> Iterator[Finding]:
    """Report a namespace of the host in which both flavors hold rules."""
    for family, netfilter in case.node.host.netfilter.items():
        legacy, modern = _first_rule(netfilter, "legacy"), _first_rule(netfilter, "nft")
        if legacy is not None and modern is not None:
            yield _report(family, legacy, modern)


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
                "its own rules only."
            ),
        ),
        breaks=("nothing by itself: what one flavor accepts, the other may drop",),
        prevention="Let the host and every container that writes rules use the same flavor.",
    )
