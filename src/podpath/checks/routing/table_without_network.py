"""table-without-network: a policy rule sends packets to a table that lacks a network that main has.

What it is
    `ip rule` sends packets (from a source, from a device, or all) to a table of their own before
    main. That table has a default route, but no route to a network that main has: a LAN, the range
    of a container bridge, another uplink's network.

Why it breaks
    The first table that has any route for a destination decides. The table's default route also
    takes packets for the missing network and sends them out through the uplink or the VPN: requests
    from containers, or replies to clients in that network, leave on the wrong device.

How to confirm
    ip rule; ip route show table TABLE; ip route get DESTINATION from SOURCE

How to fix
    Add the network to the table (`ip route add NETWORK dev DEVICE table TABLE`), or a rule before
    it that looks the network up in main: `ip rule add to NETWORK lookup main priority PRIORITY`.

References
    fib_rules_lookup (net/core/fib_rules.c v6.12); ip-rule(8)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import is_inner_bridge, spans_of
from podpath.checks.told import WORKLOADS, list_lost
from podpath.checks.topology import spell_table
from podpath.net.addresses import Address, Prefix
from podpath.net.complaints import Complaint
from podpath.node.case import Case
from podpath.node.node import Netns
from podpath.node.routing import MAIN, TABLES, PolicyRule, Route

CATEGORIES = (
    Category.POLICY_ROUTING,
    Category.WRONG_ROUTE,
    Category.ASYMMETRIC_PATH,
    Category.NO_ROUTE,
)
NAME = "table-without-network"
POSSIBLE = 0.6
_ON_DEVICE = re.compile(
    r"(?P<network>(?:\d+\.){3}\d+/\d+)[^\w.;]+(?:which |that )?(?:is |are |stands? |lies? |sits? )?"
    r"(?:on|at|behind|by) (?:device |card |interface |the )*[`'\"]?"
    r"(?P<device>(?=[\w.-]*\d)[a-z][\w.-]*\w)"
)
"""Says of a network by which device it is reached."""


def check(case: Case) -> Iterator[Finding]:
    """Report the networks of main that a table before it lacks, where people say that what goes
    there, or comes from there, gets no answer.
    """
    host = case.node.host
    said = _list_said(case)
    for rule in host.rules.items:
        defaults = _list_defaults(host, rule)
        if not defaults or any(_is_passed(one) for one in host.rules.items if _precedes(one, rule)):
            continue
        for route in host.routes.items:
            if _is_lacking(host, rule, route, defaults) and _is_meant(case, said, route):
                yield _report(host, rule, route, defaults, sure=_is_certain(case, rule, route))
                return
        for complaint in list_lost(case):
            network = _find_said_elsewhere(host, rule, complaint, defaults)
            if network is not None:
                yield _report_said(case, rule, network, complaint, defaults)
                return


def _list_defaults(host: Netns, rule: PolicyRule) -> list[Route]:
    """Return the default routes of the table that a rule looks up before main, if it is of its
    own.
    """
    shown = rule.span is not None and not rule.unread and not rule.l3mdev
    before = rule.action == "lookup" and rule.table not in TABLES.values() and rule.family == 4
    if not (shown and before) or rule.suppress_prefixlength is not None or rule.dst is not None:
        return []
    return [
        route
        for route in host.routes.items
        if route.table == rule.table and route.prefix.length == 0 and route.span is not None
    ]


def _precedes(one: PolicyRule, rule: PolicyRule) -> bool:
    return one.family == rule.family and one.priority <= rule.priority and one is not rule


def _is_passed(rule: PolicyRule) -> bool:
    """Tell whether a rule looks specific routes of main up first, for whatever packets."""
    return rule.table == MAIN and (rule.dst is not None or rule.suppress_prefixlength is not None)


def _is_lacking(host: Netns, rule: PolicyRule, route: Route, defaults: list[Route]) -> bool:
    """Tell whether main has a route of its own to a network, and the table has none."""
    if route.table != MAIN or route.prefix.family != 4 or route.span is None or route.unread:
        return False
    if route.prefix.length == 0 or route.type != "unicast":
        return False
    devices = {hop.link for one in defaults for hop in one.nexthops}
    by_other = not devices & {hop.link for hop in route.nexthops}
    gateways = {hop.gateway for hop in route.nexthops} - {None}
    taken = {hop.gateway for one in defaults for hop in one.nexthops}
    by_other |= bool(gateways) and not gateways & taken and None not in taken
    covered = any(
        one.table == rule.table and one.prefix.length and one.prefix.covers(route.prefix)
        for one in host.routes.items
    )
    return by_other and not covered


def _find_said_elsewhere(
    host: Netns, rule: PolicyRule, complaint: Complaint, defaults: list[Route]
) -> Prefix | None:
    """Return a network that a sentence names with its device, where the table that a rule for the
    same sentence's address looks up has no route to it but its default, by another device.
    """
    source = rule.src
    if source is None or not any(source.covers(one) for one in complaint.addresses):
        return None
    devices = {hop.link for one in defaults for hop in one.nexthops}
    for found in _ON_DEVICE.finditer(" ".join(complaint.span.text.split())):
        network = next((one for one in complaint.prefixes if str(one) == found["network"]), None)
        if network is None or found["device"] in devices or None in devices:
            continue
        inside = any(
            one.table == rule.table and one.prefix.length and one.prefix.overlaps(network)
            for one in host.routes.items
        )
        if not inside and not any(network.covers(one) for one in complaint.addresses):
            return network
    return None


def _list_said(case: Case) -> list[Prefix]:
    """Return the networks and addresses of what gets no answer."""
    lost = list_lost(case)
    named = [prefix for one in lost for prefix in one.prefixes]
    return named + [_whole(address) for one in lost for address in one.addresses]


def _whole(address: Address) -> Prefix:
    return Prefix.parse(str(address))


def _is_meant(case: Case, said: list[Prefix], route: Route) -> bool:
    """Tell whether what fails has to do with the network: it is named, or is that of the containers
    which get no answer.
    """
    near = any(route.prefix.covers(one) or one == route.prefix for one in said)
    ends = {end for one in list_lost(case) for end in (one.source, one.target)}
    inner = any(hop.link is not None and is_inner_bridge(hop.link) for hop in route.nexthops)
    return near or (inner and bool(ends & WORKLOADS))


def _is_certain(case: Case, rule: PolicyRule, route: Route) -> bool:
    """Tell whether people name the network, and the rule is for whatever answers it: for all, or
    for a source that they name, or that answers by an address of this host.
    """
    said = _list_said(case)
    if not any(route.prefix.covers(one) for one in said):
        return False
    if _is_cut(_list_defaults(case.node.host, rule)) or not _is_plain(rule):
        return False
    return rule.src is None or any(rule.src.covers(one) for one in said)


def _is_cut(defaults: list[Route]) -> bool:
    """Tell whether a part of a table's listing alone may be shown."""
    commands = [one.span.source.command or "" for one in defaults if one.span is not None]
    return any("|" in command for command in commands)


def _is_plain(rule: PolicyRule) -> bool:
    """Tell whether a rule asks for no more than addresses."""
    conditions = (rule.iif, rule.oif, rule.mark, rule.uids, rule.tos, rule.protocol, rule.sport)
    return all(one is None for one in conditions)


def _report_said(
    case: Case, rule: PolicyRule, network: Prefix, complaint: Complaint, defaults: list[Route]
) -> Finding:
    sure = _is_plain(rule) and not _is_cut(defaults) and case.node.host.rules.complete
    table = spell_table(rule.table, rule.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Rule {rule.priority} sends packets of {rule.src} to table {table}, whose default "
            f"route takes packets for {network}: the table has no route to that network."
        ),
        evidence=(*spans_of((rule, *defaults)), complaint.span),
        reasoning=("The first table that has any route for a destination decides.",),
        breaks=(f"traffic that the rule is for, to {network}, and the replies to it",),
        prevention=(
            "When you set a table's default route, add the connected networks to it as well."
        ),
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (_ask(network, table),),
        marks=(table, str(network)),
    )


def _ask(network: Prefix, table: str) -> FollowUp:
    return FollowUp(
        "which route the failing packets take",
        f"ip route get {network.address} from SOURCE; ip route show table {table}",
        "the table's default: the table lacks the network",
    )


def _report(
    host: Netns, rule: PolicyRule, route: Route, defaults: list[Route], *, sure: bool
) -> Finding:
    others = [one for one in host.routes.items if one.table == rule.table and one not in defaults]
    devices = [str(hop.link) for hop in route.nexthops if hop.link is not None]
    device = f" dev {devices[0]}" if devices else ""
    whose = f" of {rule.src}" if rule.src is not None else ""
    table = spell_table(rule.table, rule.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Rule {rule.priority} sends packets{whose} to table {table}, whose default "
            f"route takes packets for {route.prefix}: only main has a route to that network."
        ),
        evidence=spans_of((rule, *defaults, route, *others)),
        reasoning=("The first table that has any route for a destination decides.",),
        breaks=(f"traffic that the rule is for, to {route.prefix}, and the replies to it",),
        repairs=(
            Repair(
                title=f"add {route.prefix} to the table",
                commands=(f"ip route add {route.prefix}{device} table {table}",),
            ),
        ),
        prevention=(
            "When you set a table's default route, add the connected networks to it as well."
        ),
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (_ask(route.prefix, table),),
        marks=(table, str(route.prefix)),
    )
