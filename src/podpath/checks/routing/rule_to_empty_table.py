"""rule-to-empty-table: a policy rule leads to a table without a route.

What it is
    `ip rule` sends packets (from a source, or with a mark) to a table of their own, and a listing
    of that table prints nothing, or says `FIB table does not exist`.

Why it breaks
    If no route of a table matches, the kernel goes on to the next rule, and so to main. The packets
    that the table was meant for take main's default route, through the wrong device and, if their
    source was already chosen, with one that the next router does not know. The route was added
    without `table`, went away with its device, or is set at boot before the device is up.

How to confirm
    ip rule; ip route show table TABLE; ip route get DESTINATION from SOURCE

How to fix
    ip route add default via GATEWAY dev DEVICE table TABLE, and routes to the local networks.

References
    fib_rules_lookup (net/core/fib_rules.c v6.12); ip-rule(8)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import may_be_of_one_host, spans_of, statements_of
from podpath.checks.told import list_failing, list_lost
from podpath.checks.topology import spell_table
from podpath.net.complaints import Complaint
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.statements import NoRoutes
from podpath.node.case import Case
from podpath.node.node import HOST, Netns
from podpath.node.routing import MAIN, TABLES, PolicyRule, Route

CATEGORIES = (Category.POLICY_ROUTING, Category.WRONG_ROUTE, Category.NO_ROUTE)
NAME = "rule-to-empty-table"
_ASKED = re.compile(r"\btable (?P<table>[\w.-]+)\s*$")
_ADDED = re.compile(r"\bip\s.*\b(?:add|append|change|replace)\b")
NAMED, POSSIBLE = 0.9, 0.7


def check(case: Case) -> Iterator[Finding]:
    """Report the first rule to a table that is shown to be empty, where what it is for fails, or
    nobody says whose packets fail.
    """
    host = case.node.host
    empty = _list_empty(case)
    for rule in host.rules.items if empty else ():
        table = spell_table(rule.table, rule.span)
        nothing = empty.get(table)
        together = nothing is not None and may_be_of_one_host((rule.span, nothing))
        if nothing is None or not together or not _is_own(host, rule):
            continue
        lost = [one for one in list_lost(case) if _is_meant(one, rule)]
        if lost or rule.src is None or not any(True for _ in list_failing(case)):
            said = next(iter(lost), None)
            yield _report(host, rule, nothing, said)
            return


def _list_empty(case: Case) -> dict[str, Span]:
    """Return the tables that are shown to be empty, as the commands name them."""
    found = {none.table: stated.span for none, stated in statements_of(case, NoRoutes)}
    for message in case.messages:
        asked = _ASKED.search(message.span.source.command or "")
        of_six = "ipv6:" in message.span.text
        if message.kind is MessageKind.ROUTE_TABLE_EMPTY and asked is not None and not of_six:
            found.setdefault(asked["table"], message.span)
    return {
        table: span
        for table, span in found.items()
        if span.source.netns in {None, HOST} and not _is_filled_below(case, table, span)
    }


def _is_filled_below(case: Case, table: str, span: Span) -> bool:
    """Tell whether a route was added to a table after it was listed."""
    added = (one for one in case.change_commands if _ADDED.search(one.command))
    below = (one for one in added if one.span.source.name == span.source.name)
    return any(
        one.span.line > span.line and re.search(rf"\btable {re.escape(table)}(?!\S)", one.command)
        for one in below
    )


def _is_own(host: Netns, rule: PolicyRule) -> bool:
    """Tell whether a rule looks up a table of somebody's own in which no output shows a route."""
    if rule.span is None or rule.negated or rule.action != "lookup" or rule.l3mdev:
        return False
    filled = any(
        route.table == rule.table and route.span is not None for route in host.routes.items
    )
    return rule.family == 4 and rule.table not in TABLES.values() and not filled


def _is_meant(complaint: Complaint, rule: PolicyRule) -> bool:
    """Tell whether a sentence names what the rule is for."""
    src = rule.src
    if src is None or not src.length:
        return False
    held = any(src.covers(one) for one in complaint.addresses)
    return held or any(src.covers(one) for one in complaint.prefixes)


def _find_default(host: Netns) -> Route | None:
    """Return the default route of main that is used."""
    found = [
        one
        for one in host.routes.items
        if one.table == MAIN and one.prefix.length == 0 and one.prefix.family == 4 and one.span
    ]
    return min(found, key=lambda one: one.metric, default=None)


def _is_elsewhere(host: Netns, rule: PolicyRule, default: Route) -> bool:
    """Tell whether main's default route leaves by another device than the one that holds the
    addresses of a rule.
    """
    own = {
        item.link
        for item in host.addresses.items
        if item.span is not None and rule.src is not None and rule.src.covers(item.address)
    }
    return bool(own) and not own & {hop.link for hop in default.nexthops}


def _report(host: Netns, rule: PolicyRule, nothing: Span, said: Complaint | None) -> Finding:
    named = said is not None
    likely = NAMED if named else POSSIBLE
    default = _find_default(host)
    sure = named and default is not None and _is_elsewhere(host, rule, default)
    sure = sure and host.rules.complete
    whose = f" of {rule.src}" if rule.src is not None else ""
    table = spell_table(rule.table, rule.span)
    ways = [str(hop.link) for hop in default.nexthops if hop.link] if default is not None else []
    way = f", by {ways[0]}" if ways else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Rule {rule.priority} sends packets{whose} to table {table}, which is empty: they "
            f"take the main table{way}."
        ),
        evidence=(*spans_of((rule,)), nothing, *spans_of((default, said))),
        reasoning=("Where a table has no matching route, the kernel goes on to the next rule.",),
        breaks=("what the rule is for, and the replies to it",),
        repairs=(
            Repair(
                title="give the table its default route",
                commands=(f"ip route add default via GATEWAY dev DEVICE table {table}",),
            ),
        ),
        prevention=(
            "Set a table's routes together with the rule, in the configuration of the device."
        ),
        certainty=1.0 if sure else likely,
        marks=(table, *([str(rule.src)] if rule.src is not None else [])),
        asks=()
        if sure
        else (
            FollowUp(
                "which way the failing packets go",
                f"ip route get DESTINATION from SOURCE; ip route show table {table}; ip rule",
                f"main's: table {table} lacks its route",
            ),
        ),
    )
