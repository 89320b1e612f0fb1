"""catch-all: a rule that matches every packet drops or rejects whatever no rule above it accepts.

What it is
    INPUT, FORWARD or OUTPUT contains a REJECT or DROP without any condition. On Fedora, CentOS and
    RHEL without firewalld it is the default: `-A FORWARD -j REJECT --reject-with
    icmp-host-prohibited`. Elsewhere an admin, a security agent, libvirt or LXD put it there. ufw's
    jump to ufw-reject-forward does the same if ufw is set to reject routed traffic.

Why it breaks
    Rules are tried in order. What Docker, kube-proxy or the CNI plugin append later comes below it
    and is never reached: its counters stay 0. With REJECT the client gets "No route to host"
    (host-prohibited), "Connection refused" (port-unreachable) or "Packet filtered"; with DROP it
    waits.

How to confirm
    iptables -nvL FORWARD --line-numbers     # its counter grows, those below stay 0

How to fix
    Remove it, or put the accepting rules before it:
        iptables -D FORWARD -j REJECT --reject-with icmp-host-prohibited
    and remove it from what is loaded at boot (/etc/sysconfig/iptables, /etc/iptables/rules.v4),
    too.

References
    iptables-extensions(8), REJECT; ipt_do_table (net/ipv4/netfilter/ip_tables.c)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import (
    HOOKS,
    chains_named,
    ends,
    is_plain,
    is_plain_where_shown,
    lets_new_in,
    owner_of,
    rejects_by_name,
)
from podpath.checks.told import is_forwarding_asked, list_failing
from podpath.net.failures import FailureKind
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule
from podpath.node.netfilter_text import emit_rule

CATEGORIES = (Category.HOST_FIREWALL, Category.RULE_ORDER)
NAME = "catch-all"
QUOTED = 3
POSSIBLE, LIKELY = 0.4, 0.7
_FELT = frozenset({FailureKind.NO_ROUTE_TO_HOST, FailureKind.UNREACHABLE})
"""How a host-prohibited reject is felt."""
ASK = FollowUp(
    "whether the rule counts packets of the connection that fails",
    "iptables -L FORWARD -n -v --line-numbers",
    "its counter grows with each attempt: the connection is forwarded and ends there",
)

ASK_CHAIN = FollowUp(
    "whether ufw's chain rejects, and what it counts",
    "iptables -nvL ufw-reject-forward; ufw status verbose",
    "it has a REJECT that counts with each attempt: admit the containers' range with ufw route",
)


def check(case: Case) -> Iterator[Finding]:
    """Report each rule of a base chain that ends every packet, where rules stand below it or none
    above lets anything in.
    """
    alone: list[tuple[Chain, Rule]] = []
    for name in HOOKS:
        for _, chain in chains_named(case.node.host, "filter", name):
            found = next((rule for rule in chain.rules if is_plain(rule) and ends(rule)), None)
            if found is None:
                yield from _find_likely(case, chain)
                continue
            below = [
                rule for rule in chain.rules if rule.position > found.position and lets_new_in(rule)
            ]
            above = any(
                rule.position < found.position and lets_new_in(rule) for rule in chain.rules
            )
            if below:
                yield _report_order(found, below)
            elif not above:
                alone.append((chain, found))
    if alone:
        found_alone = _report_alone([rule for _, rule in alone])
        yield found_alone if is_forwarding_asked(case) else _doubt(found_alone)


def _find_likely(case: Case, chain: Chain) -> Iterator[Finding]:
    """Report a jump to a chain that only rejects, or a rule that rejects everything as far as a
    listing without devices shows, above rules that accept.
    """
    for rule in chain.rules:
        jumps = is_plain(rule) and rejects_by_name(rule)
        if not jumps and not _may_reject_all(case, rule):
            continue
        below = [one for one in chain.rules if one.position > rule.position and lets_new_in(one)]
        if below and not any(one.packets for one in below):
            yield _report_likely(rule, below, sure=jumps and _ends_all(chain, rule), jumps=jumps)
        return


def _may_reject_all(case: Case, rule: Rule) -> bool:
    """Tell whether a rule rejects all that FORWARD gets, by a listing that hides devices, in the
    way that people speak of.
    """
    target = rule.target
    if rule.chain != "FORWARD" or target is None or target.name != "REJECT":
        return False
    with_ = {word for option in target.options for word in option.values}
    felt = {one.failure for one in list_failing(case)}
    kinds = _FELT if any("prohibited" in word for word in with_) else {FailureKind.REFUSED}
    return is_plain_where_shown(rule) and bool(kinds & felt)


def _ends_all(chain: Chain, rule: Rule) -> bool:
    """Tell whether counters show that no packet went on below a rule: the rest and the policy have
    none.
    """
    below = [one.packets for one in chain.rules if one.position > rule.position]
    return bool(rule.packets) and set(below) == {0} and chain.packets == 0


def _report_likely(rule: Rule, below: Sequence[Rule], *, sure: bool, jumps: bool) -> Finding:
    name = rule.target.name if rule.target is not None else ""
    what = f"jumps to {name}, which rejects" if jumps else f"ends with {name}, as far as is shown,"
    ask = ASK_CHAIN if jumps else ASK
    counted = (f"{rule.packets} packets entered it, and nothing below has counted any.",)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Rule {rule.position} of {rule.chain} {what} every packet: {_spell_below(below)} "
        "reached.",
        evidence=(rule.span, *(one.span for one in below[:QUOTED])),
        reasoning=("Rules are tried in order.", *(counted if sure else ())),
        breaks=("packets that only the rules below would have accepted",),
        prevention="Let the firewall's own configuration admit what containers and pods forward.",
        certainty=1.0 if sure else LIKELY,
        asks=() if sure else (ask,),
        marks=(name,),
    )


def _spell_below(below: Sequence[Rule], whose: str = "") -> str:
    """Say which rules are not reached: "the 2 rules of Docker below it that would accept are
    never".
    """
    if len(below) == 1:
        return f"the rule{whose} below it that would accept is never"
    return f"the {len(below)} rules{whose} below it that would accept are never"


def _doubt(finding: Finding) -> Finding:
    """Return it as what may matter: nothing says that the host forwards what fails."""
    reason = "Nothing says that this host forwards what fails."
    return replace(
        finding,
        certainty=POSSIBLE,
        repairs=(),
        asks=(ASK,),
        reasoning=(*finding.reasoning, reason),
    )


def _report_order(found: Rule, below: Sequence[Rule]) -> Finding:
    owners = dict.fromkeys(owner for owner in map(owner_of, below) if owner)
    whose = f" of {', '.join(owners)}" if owners else ""
    target = found.target.name if found.target is not None else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Rule {found.position} of {found.chain} catches every packet with {target}: "
        f"{_spell_below(below, whose)} reached.",
        evidence=(found.span, *(rule.span for rule in below[:QUOTED])),
        reasoning=("Rules are tried in order, and this one has no condition.",),
        breaks=("packets that only the rules below would have accepted",),
        repairs=(_delete(found),),
        prevention=(
            "Keep such a rule out of what is loaded at boot, or insert the accepting rules "
            "before it."
        ),
        marks=(target,),
    )


def _report_alone(found: Sequence[Rule]) -> Finding:
    forward = [rule for rule in found if rule.chain == "FORWARD"]
    ordered = [*forward, *(rule for rule in found if rule.chain != "FORWARD")]
    names = " and ".join(dict.fromkeys(rule.chain for rule in ordered))
    target = ordered[0].target.name if ordered[0].target is not None else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A rule of {names} catches every packet with {target}, and no rule that is shown "
            "above it accepts anything new."
        ),
        evidence=tuple(rule.span for rule in ordered),
        reasoning=("Nothing from pods or containers is accepted before it.",),
        breaks=(
            ("packets of pods and containers: to the host (INPUT), to and from others (FORWARD)"),
        ),
        repairs=tuple(_delete(rule) for rule in ordered),
        prevention=(
            "Keep such a rule out of what is loaded at boot on a host that forwards for containers."
        ),
        certainty=1.0
        if any(
            rule.packets or (rule.chain == "FORWARD" and not _is_filtered(rule)) for rule in found
        )
        else 0.7,
        marks=(target,),
    )


def _is_filtered(rule: Rule) -> bool:
    """Tell whether the command says that rules were left out: what stood above may be among
    them.
    """
    return "|" in (rule.span.source.command or "")


def _delete(rule: Rule) -> Repair:
    return Repair(
        title=f"remove the rule from {rule.chain}",
        commands=(f"iptables -t {rule.table} {emit_rule(rule, '-D')}",),
    )
