"""table-unused: a routing table with a default route of its own is looked up by no rule.

What it is
    A table other than `main` has a default route, and the full list of rules (`ip rule`) has none
    that looks the table up.

Why it breaks
    Routes of a table count only for packets that a rule sends there. Whatever created the table
    (the AWS plugin for the pods on a second interface, a script for a second card, a VPN) also
    creates the rules; if they are gone, the packets take the main table's default route through the
    wrong device, and the network behind it drops their source.

How to confirm
    ip rule; ip route show table all | grep 'table NUMBER'
    ip route get 8.8.8.8 from ADDRESS iif DEVICE

How to fix
    Add the rule for each address or range that the table is for: ip rule add from ADDRESS lookup
    NUMBER; or restart the agent that writes them (aws-node), and keep others from flushing rules
    (systemd-networkd: ManageForeignRoutingPolicyRules=no).

References
    fib_rules_lookup (net/core/fib_rules.c v6.12); ip-rule(8); networkd.conf(5)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import LOSSES, list_lost
from podpath.checks.topology import spell_table
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.routing import DEFAULT, LOCAL, MAIN, Route

CATEGORIES = (Category.POLICY_ROUTING, Category.WRONG_ROUTE)
NAME = "table-unused"
LIKELY = 0.8
"""Which packets the table is for is not shown."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first table with a default route that no rule of a whole list names."""
    host = case.node.host
    stated = [rule.span for rule in host.rules.items if rule.span is not None]
    by_device = any(link.kind == "vrf" for link in host.links.items)
    if not host.rules.complete or not stated or by_device or not list_lost(case):
        return
    used = {rule.table for rule in host.rules.items} | {MAIN, LOCAL, DEFAULT}
    for route in host.routes.items:
        if route.table not in used and not route.prefix.length and route.span is not None:
            yield _report(route, route.span, stated[-1])
            return


def _report(route: Route, span: Span, last: Span) -> Finding:
    table = spell_table(route.table, route.span)
    ways = ", ".join(str(hop.link) for hop in route.nexthops if hop.link is not None)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"No rule looks up table {table}, which has the default route through {ways}.",
        evidence=(span, last),
        reasoning=("The list of rules is complete; a table counts only if a rule names it.",),
        breaks=(f"what is meant to leave through {ways}",),
        prevention=(
            "Watch the number of rules (ip rule | wc -l), and find out what else writes them."
        ),
        certainty=LIKELY,
        proves=LOSSES,
        asks=(
            FollowUp(
                f"which addresses table {table} is for",
                "ip rule; ip route get 8.8.8.8 from ADDRESS; ip route show table all",
                f"those that fail: `ip rule add from ADDRESS lookup {table}` is missing",
            ),
        ),
        marks=(ways,),
    )
