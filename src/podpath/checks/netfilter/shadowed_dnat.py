"""shadowed-dnat: two DNAT rules take the same packets, and the first one leads elsewhere.

What it is
    For one protocol, address and port there are two DNAT rules with different destinations. The first is usually left
    over from a container, pod or hostPort that is gone: its program died before it cleaned up.

Why it breaks
    The first rule that matches translates the packet; the second is never asked. Nobody has the old address any more, so
    the neighbour does not answer ("No route to host"), or worse: another container got the address since.

How to confirm
    iptables -t nat -nvL | grep ':PORT'      # the first one counts, the second stays at 0
    docker ps -q | xargs docker inspect -f '{{.Name}} {{.NetworkSettings.IPAddress}}'

How to fix
    Delete the stale rule by its full text (iptables -t nat -S | grep PORT, then -D instead of -A), and the connections
    that it made: conntrack -D -p tcp --dport PORT. A restart of Docker writes its chain anew.

References
    nf_nat_inet_fn (net/netfilter/nf_nat_core.c); the portmap plugin of containernetworking/plugins
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair
from podpath.checks.firewall import chains_of
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule
from podpath.node.netfilter_text import emit_rule

CATEGORIES = (Category.STALE_DNAT,)
NAME = "shadowed-dnat"


def check(case: Case) -> Iterator[Finding]:
    """Report each DNAT rule whose packets an earlier one of its chain has taken to another place."""
    for _, chain in chains_of(case.node.host, "nat"):
        yield from _check_chain(chain)


def _check_chain(chain: Chain) -> Iterator[Finding]:
    first: dict[tuple[object, ...], Rule] = {}
    for rule in chain.rules:
        if rule.target is None or rule.target.name != "DNAT" or rule.unread or _is_random(rule):
            continue
        earlier = first.setdefault(_selects(rule), rule)
        if earlier is not rule and earlier.target != rule.target:
            yield _report(earlier, rule)


def _selects(rule: Rule) -> tuple[object, ...]:
    matches = tuple(match for match in rule.matches if match.name != "comment")
    return (rule.src, rule.dst, rule.protocol, rule.in_link, rule.out_link, matches)


def _is_random(rule: Rule) -> bool:
    return any(match.name in ("statistic", "random", "recent") for match in rule.matches)


def _destination(rule: Rule) -> str:
    options = rule.target.options if rule.target is not None else ()
    return next((option.values[0] for option in options if option.name == "to-destination" and option.values), "elsewhere")


def _report(earlier: Rule, later: Rule) -> Finding:
    counted = earlier.packets is not None and earlier.packets > 0 and not later.packets
    reasoning = ["The first rule that matches translates; the packet does not come to the second."]
    if counted:
        reasoning.append(f"The first one has counted {earlier.packets} packets, the second none.")
    return Finding(
        check=NAME,
        severity="fault",
        claim=f"A DNAT rule to {_destination(earlier)} takes the packets that the rule to {_destination(later)} below it is for.",
        evidence=(earlier.span, later.span),
        reasoning=tuple(reasoning),
        breaks=(f"connections that should go to {_destination(later)}",),
        repairs=(Repair(title="delete the rule that shadows it", commands=(f"iptables -t nat {emit_rule(earlier, '-D')}",)),),
        prevention="Let the program that owns the port clean up before it starts anew (restart it, not the host's firewall).",
        certainty=1.0 if counted or earlier.packets is None else 0.8,
        marks=(_destination(earlier),),
    )
