"""rule-to-vpn: a policy rule sends everything through a VPN's table, including replies to clients
elsewhere.

What it is
    `ip rule` has a rule for all packets before main (wg-quick's `not from all fwmark 0xca6c lookup
    51820`, a VPN client's own), or a complete table in `ip route` or `routel` sends the default
    route through a VPN's device.

Why it breaks
    Only destinations for which main has a route more specific than its default (wg-quick's
    suppress_prefixlength 0) stay outside the VPN. A reply to a client in another subnet goes into
    the VPN, and so do packets from containers: published ports work from the same subnet at best.

How to confirm
    ip rule; ip route show table all | grep default
    ip route get CLIENT

How to fix
    Add routes for the local subnets via the old gateway (ip route add SUBNET via GATEWAY), or a
    rule before the VPN's: ip rule add to SUBNET lookup main priority 100. wg-quick: leave these
    subnets out of AllowedIPs.

References
    ip-rule(8); wg-quick(8), Table; fib_rules_lookup (net/core/fib_rules.c v6.12)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import is_tunnel, spans_of
from podpath.checks.topology import spell_table
from podpath.node.case import Case
from podpath.node.node import Netns
from podpath.node.routing import MAIN, PolicyRule, Route

CATEGORIES = (
    Category.WRONG_ROUTE,
    Category.POLICY_ROUTING,
    Category.NO_ROUTE,
)
NAME = "rule-to-vpn"


BEFORE_MAIN = 32766


def check(case: Case) -> Iterator[Finding]:
    """Report a catch-all rule to a table whose default is a VPN's device, or of which nothing is
    shown.
    """
    for namespace in case.node.namespaces.values():
        for rule in namespace.rules.items:
            if rule.inferred or rule.span is None or not _catches_all(rule):
                continue
            defaults = [
                route
                for route in namespace.routes.items
                if route.table == rule.table and route.prefix.length == 0
            ]
            if defaults and not any(_by_tunnel(route) for route in defaults):
                continue
            yield _report(rule, defaults, namespace)


def _catches_all(rule: PolicyRule) -> bool:
    plain = (
        rule.src is None
        and rule.dst is None
        and rule.iif is None
        and rule.oif is None
        and not rule.l3mdev
    )
    marked = rule.mark is None or rule.negated
    own = rule.table not in {MAIN, 255, 253} and rule.suppress_prefixlength is None
    return (
        plain
        and marked
        and own
        and rule.action == "lookup"
        and rule.priority < BEFORE_MAIN
        and rule.sport is None
    )


def _by_tunnel(route: Route) -> bool:
    return any(hop.link is not None and is_tunnel(hop.link) for hop in route.nexthops)


def _report(rule: PolicyRule, defaults: list[Route], namespace: Netns) -> Finding:
    device = next(
        (str(hop.link) for route in defaults for hop in route.nexthops if hop.link is not None), ""
    )
    by = f" by {device}" if device else ""
    where = "" if namespace.name == "host" else f" in netns {namespace.name}"
    table = spell_table(rule.table, rule.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Rule {rule.priority}{where} sends what the main table reaches only through its "
            f"default route to table {table}{by}."
        ),
        evidence=spans_of((rule, *defaults)),
        reasoning=(
            "Replies to clients in other subnets and packets from containers go there, too.",
        ),
        breaks=(
            (
                "published ports and other connections from subnets for which main has no "
                "specific route"
            ),
        ),
        prevention="Add routes or rules for the local subnets with the VPN.",
        certainty=0.6 if defaults else 0.4,
        marks=(table, device) if device else (table,),
    )
