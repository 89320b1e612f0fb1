"""shadowed-dnat: two DNAT rules match the same packets, and the first one leads elsewhere.

What it is
    Two DNAT rules for the same protocol, address and port have different destinations. The first is
    usually left over from a container, pod or hostPort that is gone: its program died before it
    cleaned up. They may be in two chains that are reached by jumps with the same condition, as the
    portmap plugin and kube-router write them.

Why it breaks
    The first rule that matches translates the packet; the second is never reached. Nothing has the
    old address any longer, so the neighbor does not answer ("No route to host"), or worse, another
    container has been given the address since.

How to confirm
    iptables -t nat -nvL | grep ':PORT'      # the first one counts, the second stays at 0
    docker ps -q | xargs docker inspect -f '{{.Name}} {{.NetworkSettings.IPAddress}}'

How to fix
    Delete the stale rule by its full text (iptables -t nat -S | grep PORT, then -D instead of -A),
    and the conntrack entries that it created: conntrack -D -p tcp --dport PORT. Restarting Docker
    rewrites its chain.

References
    nf_nat_inet_fn (net/netfilter/nf_nat_core.c); the portmap plugin of containernetworking/plugins
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.coverage import (
    FailingTraffic,
    Maybe,
    Path,
    chains_in,
    covers,
    list_asked,
    list_paths,
    ports_of,
    roots,
)
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import owner_of, tables_named
from podpath.node.case import Case
from podpath.node.netfilter import Rule, Table
from podpath.node.netfilter_text import emit_rule
from podpath.xtables.legality import DESTINATION_NAT

CATEGORIES = (Category.STALE_DNAT,)
NAME = "shadowed-dnat"
BALANCED = ("KUBE-",)
"""Beginnings of the names of chains in which one program keeps its own order, thousands of rules
long.
"""
COMPARED = 40
"""Earlier rules of one port with which a rule is compared."""
_CHANCE = frozenset({"statistic", "random", "recent", "nth"})


def check(case: Case) -> Iterator[Finding]:
    """Report each DNAT rule whose packets an earlier one on the same way has taken to another
    place.
    """
    asked = list_asked(case)
    for table in tables_named(case.node.host, "nat"):
        told: set[tuple[Rule, Rule]] = set()
        for earlier, later, sure in _find(table):
            if (earlier, later) not in told:
                told.add((earlier, later))
                yield _report(earlier, later, _judge(earlier, later, sure, asked))


def _find(table: Table) -> Iterator[tuple[Rule, Rule, Maybe]]:
    chains = chains_in(table)
    for root in roots(chains):
        seen: dict[object, list[Path]] = {}
        for path in list_paths(chains, root, BALANCED):
            if not _translates(path):
                continue
            same = seen.setdefault(_port(path), [])
            first = next(
                ((one, sure) for one in same if (sure := _shadows(one, path)) is not False), None
            )
            if first is not None:
                yield first[0].rule, path.rule, first[1]
            if len(same) < COMPARED:
                same.append(path)


def _translates(path: Path) -> bool:
    rule = path.rule
    if (
        rule.target is None
        or rule.target.name not in DESTINATION_NAT
        or (rule.unread and not rule.hidden)
    ):
        return False
    return _port(path) is not None and not any(
        match.name in _CHANCE for one in path.rules for match in one.matches
    )


def _port(path: Path) -> object:
    """Return the ports that a way asks for, by its last rule that asks; rules without one are told
    apart by their addresses.
    """
    found = [ranges for rule in path.rules if (ranges := ports_of(rule)) is not None]
    if found:
        return found[-1]
    addresses = [rule.dst for rule in path.rules if rule.dst is not None]
    return addresses[-1] if addresses else None


def _shadows(earlier: Path, later: Path) -> Maybe:
    if (
        _destination(earlier.rule) == _destination(later.rule)
        or earlier.rule.target == later.rule.target
    ):
        return False
    return covers(earlier, later)


def _judge(earlier: Rule, later: Rule, sure: Maybe, asked: tuple[FailingTraffic, ...]) -> float:
    """Say how sure it is; where the listing hides devices, by who wrote the rules and by what
    people say that fails.
    """
    if later.packets and (sure is None or not earlier.packets):
        return 0.6
    if sure or owner_of(later) or (earlier.packets and later.packets == 0):
        return 1.0
    ranges = ports_of(later) or ()
    named = any(
        first <= port <= last for one in asked for port in one.ports for first, last in ranges
    )
    return 1.0 if named else 0.8


def _destination(rule: Rule) -> str:
    options = rule.target.options if rule.target is not None else ()
    named = (
        option.values[0]
        for option in options
        if option.name in ("to-destination", "to-ports") and option.values
    )
    return next(named, "elsewhere")


def _report(earlier: Rule, later: Rule, certainty: float) -> Finding:
    reasoning = ["The first matching rule translates; the packet never reaches the second."]
    if earlier.packets and later.packets == 0:
        reasoning.append(f"The first one has counted {earlier.packets} packets, the second none.")
    ask = FollowUp(
        fact=(
            f"which of {_destination(earlier)} and {_destination(later)} still exists, and the "
            "devices of both rules"
        ),
        command=(
            "iptables -t nat -S | grep DNAT; docker network inspect bridge | grep -e Name -e IPv4"
        ),
        decides="the first rule's target is gone: delete that rule",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A DNAT rule to {_destination(earlier)} catches the packets meant for the rule to "
            f"{_destination(later)} below it."
        ),
        evidence=(earlier.span, later.span),
        reasoning=tuple(reasoning),
        breaks=(f"connections that should go to {_destination(later)}",),
        repairs=(
            Repair(
                title="delete the rule that shadows it",
                commands=(f"iptables -t nat {emit_rule(earlier, '-D')}",),
            ),
        ),
        prevention=(
            "Let the program that owns the port clean up before it restarts (restart it, not the "
            "host's firewall)."
        ),
        certainty=certainty,
        marks=(_destination(earlier),),
        asks=() if certainty == 1.0 else (ask,),
    )
