"""rpfilter-rule: a firewall's own reverse-path rule (rpfilter, `fib saddr . iif`) drops the packet.

What it is
    The log of a rule such as firewalld's rpfilter_DROP, or of `-m rpfilter --invert -j DROP`, shows
    the packet. firewalld sets the rule for IPv6 by default (IPv6_rpfilter=yes in firewalld.conf).

Why it breaks
    In the raw or mangle hook, the rule looks up the route back to the sender without the marks and
    policy rules that apply to the real reply: with wg-quick (fwmark), policy routing or several
    NICs, it finds another device or none, and drops packets whose replies would take the right
    path.

How to confirm
    nft list ruleset | grep -n 'fib saddr'; ip6tables-save -t mangle | grep rpfilter
    grep rpfilter /etc/firewalld/firewalld.conf

How to fix
    Set IPv6_rpfilter=loose (firewalld 2.0: loose, strict-forward, loose-forward) or no and reload
    firewalld; or remove the rule.

References
    nft_fib6_eval (net/ipv6/netfilter/nft_fib_ipv6.c v6.12); firewalld.conf(5); wg-quick(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.said import find_said
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.REVERSE_PATH_FILTER,
    Category.IPV6,
    Category.HOST_FIREWALL,
)
NAME = "rpfilter-rule"


def check(case: Case) -> Iterator[Finding]:
    """Report each device on which such a rule was seen to drop."""
    told: set[str] = set()
    for message in find_said(case, MessageKind.REVERSE_PATH_LOG):
        device = message.values.get("device", "")
        if device in told:
            continue
        told.add(device)
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                "A reverse-path rule in the host's firewall drops packets that come in on "
                f"{device or 'a device'}."
            ),
            evidence=(message.span,),
            reasoning=(
                (
                    "The rule's own log shows the packet. The rule looks up the route back "
                    "without marks and policy rules."
                ),
            ),
            breaks=(
                (
                    f"replies and requests that come in on {device or 'that device'} and whose "
                    "route back depends on a rule or mark"
                ),
            ),
            prevention=(
                "Set IPv6_rpfilter=loose in firewalld.conf on hosts with VPNs or policy routing."
            ),
            marks=("rpfilter",),
        )
