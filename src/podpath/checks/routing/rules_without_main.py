"""rules-without-main: no policy rule looks up the main table.

What it is
    `ip rule` lists all rules, and none of them looks up table main.

Why it breaks
    Packets that no other rule matches find no route: the kernel answers `Network is unreachable`,
    or drops what it would forward, although `ip route` shows routes. Somebody ran ip rule flush, or
    a program that manages rules removed those that it did not know.

How to confirm
    ip rule; ip route get ADDRESS

How to fix
    ip rule add priority 32766 lookup main; ip rule add priority 32767 lookup default.

References
    fib_default_rules_init (net/ipv4/fib_rules.c v6.12); ip-rule(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.routing import MAIN

CATEGORIES = (
    Category.POLICY_ROUTING,
    Category.NO_ROUTE,
)
NAME = "rules-without-main"


def check(case: Case) -> Iterator[Finding]:
    """Report a namespace whose whole list of rules lacks main."""
    for namespace in case.node.namespaces.values():
        listed = [
            rule for rule in namespace.rules.items if rule.span is not None and rule.family == 4
        ]
        if (
            not namespace.rules.complete
            or not listed
            or any(rule.table == MAIN or rule.l3mdev for rule in listed)
        ):
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim="No policy rule looks up the main table: its routes are not used.",
            evidence=list_spans(listed),
            reasoning=(
                ("The kernel tries the rules in order; main counts only if one of them names it."),
            ),
            breaks=("all packets that no other rule matches",),
            repairs=(
                Repair(
                    title="add the rule for main back",
                    commands=("ip rule add priority 32766 lookup main",),
                ),
            ),
            prevention=(
                "Find out what flushed the rules: networkd's ManageForeignRoutingPolicyRules, a "
                "script."
            ),
            marks=("lookup",),
        )
