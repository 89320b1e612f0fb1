"""shadowed-accept: a rule that drops or rejects comes before the rule that would accept the same
packets.

What it is
    In INPUT, FORWARD or OUTPUT, or in a chain that it jumps to, a DROP or REJECT matches a port,
    range, device or address, and the ACCEPT that an admin, Docker, kube-proxy or the CNI plugin
    wrote for the same packets comes after it. Or a DROP or REJECT names the port that is reported
    to fail, and nothing above accepts it.

Why it breaks
    Rules are tried in order, and the first verdict counts. A rule that is appended (`-A`) comes
    after all existing ones, so an ACCEPT appended to a chain that already rejects is never reached.
    RHEL's old RH-Firewall-1-INPUT, to which FORWARD jumps too, ends with a REJECT of everything,
    and nothing below the jump is reached.

How to confirm
    # the counter of the upper rule grows, that of the accept stays 0
    iptables -nvL FORWARD --line-numbers

How to fix
    Put the accept above (`iptables -I CHAIN NUMBER ...`), or remove the dropping rule, in the
    configuration that the rules are written from.

References
    iptables(8), "-I"; ipt_do_table (net/ipv4/netfilter/ip_tables.c)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

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
    takes,
    takes_new,
)
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import ends, is_plain, lets_new_in, owner_of, tables_named
from podpath.net.failures import FailureKind
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule
from podpath.node.netfilter_text import emit_rule

CATEGORIES = (Category.RULE_ORDER, Category.HOST_FIREWALL)
NAME = "shadowed-accept"
HIDDEN = 0.4
"""The certainty where the columns that are not shown decide."""
FEWEST, MOST = 40, 200
"""Dropping rules of a chain that are compared, and accepting rules with which they are."""
_SILENT = frozenset({FailureKind.REFUSED, FailureKind.NOT_PERMITTED})
_HARMLESS = (
    "DOCKER-USER",
    "DOCKER-ISOLATION",
    "KUBE-FIREWALL",
    "KUBE-EXTERNAL-SERVICES",
    "KUBE-PROXY-FIREWALL",
    "LIBVIRT_",
)
"""Beginnings of the names of chains that accept nothing of the world's, as their owners write
them.
"""


def check(case: Case) -> Iterator[Finding]:
    """Report what drops above an accept of the same packets, and what drops a port that is said to
    fail.
    """
    asked = list_asked(case)
    for table in tables_named(case.node.host, "filter"):
        chains = chains_in(table)
        for root in roots(chains):
            if any(ends(rule) for chain in chains.values() for rule in chain.rules[:MOST]):
                yield from _check_root(root, list_paths(chains, root, ("KUBE-S",)), asked)


def _check_root(
    root: Chain, paths: Sequence[Path], asked: Sequence[FailingTraffic]
) -> Iterator[Finding]:
    drops = [place for place, path in enumerate(paths) if _ends_new(path)][:FEWEST]
    accepts = [place for place, path in enumerate(paths) if lets_new_in(path.rule)][:MOST]
    told: set[Rule] = set()
    for place in drops:
        drop = paths[place]
        above = [paths[one] for one in accepts if one < place]
        below = [
            (paths[one], sure)
            for one in accepts
            if one > place and (sure := _is_dead(drop, paths[one], above)) is not False
        ]
        if below and drop.rule not in told:
            told.add(drop.rule)
            found = _report_order(root, drop, below[0][0], _judge_order(drop, below[0], asked))
            yield _doubt(found) if _may_be_of_card(drop, above) else found
        elif drop.rule not in told:
            named = _find_asked(drop, above, asked)
            if named is not None:
                told.add(drop.rule)
                yield _report_asked(root, drop, *named)


def _may_be_of_card(drop: Path, above: Sequence[Path]) -> bool:
    """Tell whether a listing without columns of devices shows a drop of everything above every
    accept: nothing would ever have worked, so that it is rather one of a single card.
    """
    rule = drop.rule
    bare = rule.src is None and rule.dst is None and rule.protocol is None and not rule.matches
    silent = rule.target is not None and rule.target.name == "DROP"
    return silent and bare and len(drop.rules) == 1 and "in-interface" in rule.hidden and not above


def _ends_new(path: Path) -> bool:
    """Tell whether a way ends packets that open a connection; what takes every packet of a base
    chain is `catch-all`'s.
    """
    if not ends(path.rule) or path.leaky or (len(path.rules) == 1 and is_plain(path.rule)):
        return False
    states = [
        option
        for rule in path.rules
        for match in rule.matches
        for option in match.options
        if option.name in _STATES
    ]
    return all(takes_new(option) for option in states)


_STATES = frozenset({"ctstate", "state"})


def _is_dead(drop: Path, accept: Path, above: Sequence[Path]) -> Maybe:
    """Tell whether an accept is never asked since a rule above ends its packets, and no accept
    above that one has them.
    """
    sure = covers(drop, accept)
    if sure is False or any(covers(one, accept) is not False for one in above):
        return False
    return sure


def _judge_order(drop: Path, below: tuple[Path, Maybe], asked: Sequence[FailingTraffic]) -> float:
    accept, sure = below
    counted = bool(drop.rule.packets) and accept.rule.packets == 0
    if accept.rule.packets:
        return 0.5
    named = _is_named(accept.rule, asked) or _is_named(drop.rule, asked)
    if asked and (
        _is_beside(accept.rule, asked) or not any(_fits(drop.rule, one) for one in asked)
    ):
        return 0.8
    if sure:
        return 1.0 if asked or counted or owner_of(accept.rule) or _takes_all(drop) else 0.9
    shown = not {"source", "destination"} & {
        name for rule in (*drop.rules, *accept.rules) for name in rule.hidden
    }
    return 1.0 if named and (shown or counted) else 0.8


def _is_beside(accept: Rule, asked: Sequence[FailingTraffic]) -> bool:
    """Tell whether people say which ports fail, and the accept is for others."""
    return (
        ports_of(accept) is not None
        and any(one.ports for one in asked)
        and not _is_named(accept, asked)
    )


def _takes_all(path: Path) -> bool:
    return all(is_plain(rule) for rule in path.rules)


def _is_named(rule: Rule, asked: Sequence[FailingTraffic]) -> bool:
    """Tell whether people say that a port or an address fails for which the rule is."""
    ranges = ports_of(rule)
    if ranges is not None:
        return any(
            first <= port <= last for one in asked for port in one.ports for first, last in ranges
        )
    matches = [match for match in (rule.src, rule.dst) if match is not None and not match.negated]
    return any(
        match.prefix.covers(address)
        for one in asked
        for address in one.addresses
        for match in matches
    )


def _find_asked(
    drop: Path, above: Sequence[Path], asked: Sequence[FailingTraffic]
) -> tuple[int, float] | None:
    """Return the port that is said to fail and that a rule names, with how sure it is that the rule
    ends it.
    """
    ranges = [ports for rule in drop.rules if (ports := ports_of(rule)) is not None]
    if not ranges:
        return None
    for one in asked:
        for port in one.ports:
            sure = takes(drop, port, one)
            if sure is False or not _fits(drop.rule, one):
                continue
            before = [takes(path, port, one) for path in above if not _is_harmless(path.rule)]
            if True not in before:
                certain = sure and None not in before
                counted = drop.rule.packets and None not in before and not _is_narrow(drop)
                return port, 1.0 if certain or counted else 0.8
    return None


def _is_narrow(drop: Path) -> bool:
    """Tell whether a rule is for some devices or senders alone: what it counted need not be what
    people speak of.
    """
    return any(rule.in_link is not None or rule.src is not None for rule in drop.rules)


def _fits(rule: Rule, asked: FailingTraffic) -> bool:
    """Tell whether a rule can make the failure: a silent drop refuses nothing."""
    silent = rule.target is not None and rule.target.name == "DROP"
    return not (silent and asked.failure in _SILENT)


def _is_harmless(rule: Rule) -> bool:
    return rule.target is not None and rule.target.name.startswith(_HARMLESS)


def _doubt(found: Finding) -> Finding:
    """Return it as a risk: what the columns that are not shown say decides."""
    return replace(found, severity=Severity.RISK, certainty=HIDDEN)


def _report_order(root: Chain, drop: Path, accept: Path, certainty: float) -> Finding:
    way = "".join(f", to which {rule.chain} jumps," for rule in drop.rules[:-1][-1:])
    target = drop.rule.target.name if drop.rule.target is not None else ""
    whose = owner_of(accept.rule)
    counted = bool(drop.rule.packets) and accept.rule.packets == 0
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Rule {drop.rule.position} of {drop.rule.chain}{way} catches with "
        f"{target} what rule {accept.rule.position} of "
        f"{accept.rule.chain}{f' ({whose})' if whose else ''} below "
        "it would accept.",
        evidence=(drop.rule.span, accept.rule.span, *list_spans(drop.rules[:-1])),
        reasoning=(
            (
                "The first matching rule decides, and every new connection that the lower one "
                "matches also matches the upper one."
            ),
            *(
                (f"The upper one has counted {drop.rule.packets} packets, the lower one none.",)
                if counted
                else ()
            ),
        ),
        breaks=(
            (
                f"connections that only rule {accept.rule.position} of {accept.rule.chain} would "
                "have accepted"
            ),
        ),
        repairs=(
            Repair(
                title=f"put the accept above it, or remove the {target}",
                commands=(f"iptables -t {drop.rule.table} {emit_rule(drop.rule, '-D')}",),
            ),
        ),
        prevention=(
            "Insert accepting rules (-I) above those that drop, in the configuration that the "
            "chain is written from."
        ),
        certainty=certainty,
        marks=(target,),
        asks=() if certainty == 1.0 else (_ask(root),),
    )


def _report_asked(root: Chain, drop: Path, port: int, certainty: float) -> Finding:
    target = drop.rule.target.name if drop.rule.target is not None else ""
    whose = owner_of(drop.rule)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Rule {drop.rule.position} of {drop.rule.chain}{f' ({whose})' if whose else ''} "
            f"ends packets to port {port} with {target}, and no rule shown above it accepts them."
        ),
        evidence=(drop.rule.span, *list_spans(drop.rules[:-1])),
        reasoning=(f"Port {port} is reported to fail, and the rule is for that port.",),
        breaks=(f"connections to port {port}",),
        repairs=(
            Repair(
                title=f"remove the {target}",
                commands=(f"iptables -t {drop.rule.table} {emit_rule(drop.rule, '-D')}",),
            ),
        ),
        prevention="Accept the port above it in the configuration that the chain is written from.",
        certainty=certainty,
        marks=(target,),
        asks=() if certainty == 1.0 else (_ask(root),),
    )


def _ask(root: Chain) -> FollowUp:
    return FollowUp(
        fact=f"which rule of {root.name} counts the failing packets",
        command=f"iptables -Z {root.name}; (try again); iptables -nvL {root.name} --line-numbers",
        decides=(
            "the counter of the dropping rule grows and that of the accept below it stays 0: the "
            "order is the fault"
        ),
    )
