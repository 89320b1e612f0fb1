"""state-in-raw: a rule in the raw table matches on the connection state, which is not known there.

What it is
    `-t raw -A PREROUTING -m conntrack --ctstate ...` (or `-m state`): raw runs before connection
    tracking.

Why it breaks
    No packet has a connection yet, and the match calls such packets INVALID (only packets that come
    in through lo already have one): `--ctstate INVALID -j DROP` drops everything, `--ctstate
    ESTABLISHED -j DROP` drops nothing, and `! --ctstate ESTABLISHED -j DROP` drops everything.

How to confirm
    iptables -t raw -nvL        # the rule's counter: 0, or all packets

How to fix
    Move the rule to mangle PREROUTING, the first place after connection tracking.

References
    enum nf_ip_hook_priorities (include/uapi/linux/netfilter_ipv4.h); conntrack_mt
    (net/netfilter/xt_conntrack.c)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.firewall import chains_of, ends
from podpath.node.case import Case
from podpath.node.netfilter import Rule
from podpath.node.netfilter_text import emit_rule

CATEGORIES = (Category.RULE_ORDER, Category.CONNTRACK_INVALID)
NAME = "state-in-raw"


def check(case: Case) -> Iterator[Finding]:
    """Report each dropping rule of raw that asks for a state."""
    for _, chain in chains_of(case.node.host, "raw"):
        for rule in chain.rules:
            if ends(rule) and any(match.name in ("conntrack", "state") for match in rule.matches):
                yield _report(rule)


def _report(rule: Rule) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Rule {rule.position} of {rule.chain} in raw matches on the connection state, which "
            "is not known there."
        ),
        evidence=(rule.span,),
        reasoning=("The raw table runs before connection tracking sees the packet.",),
        breaks=("the rule drops packets that it should not, or drops nothing",),
        repairs=(
            Repair(
                title="move it to after connection tracking",
                commands=(
                    f"iptables -t raw {emit_rule(rule, '-D')}",
                    f"iptables -t mangle {emit_rule(rule, '-A')}",
                ),
            ),
        ),
        prevention="Put rules that match on state in mangle or filter.",
        certainty=1.0 if rule.packets else 0.6,
    )
