"""bridge-ports-dropped: a rule drops what goes from one port of a bridge to another.

What it is
    FORWARD has a DROP or REJECT for packets that come in on a bridge and leave by the same one, and
    nothing above it accepts them. Docker writes such a rule itself for a network with
    `com.docker.network.bridge.enable_icc=false` (`--icc=false`).

Why it breaks
    With br_netfilter (bridge-nf-call-iptables) packets between two ports of one bridge pass
    FORWARD, too: the network's containers reach the outside, but not each other.

How to confirm
    iptables -vnL FORWARD --line-numbers; docker network inspect NETWORK | grep icc

How to fix
    Remove the rule, or enable_icc=false from the network's options, and recreate the network.

References
    Docker, bridge driver options; net/bridge/br_netfilter_hooks.c:br_nf_forward_ip v6.12
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.coverage import chains_in, list_paths, roots
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import ends, lets_new_in, tables_named
from podpath.checks.told import LOSSES, WORKLOADS, list_failing
from podpath.net.complaints import Circumstance, Complaint
from podpath.node.case import Case
from podpath.node.netfilter import Rule
from podpath.node.netfilter_text import emit_rule

CATEGORIES = (Category.RULE_ORDER, Category.HOST_FIREWALL, Category.FORWARD_POLICY)
NAME = "bridge-ports-dropped"
_HARMLESS = ("DOCKER-USER", "DOCKER-ISOLATION", "DOCKER-BRIDGE", "KUBE-PROXY-FIREWALL")
"""Chains that accept nothing as their owners write them."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first rule that ends all packets from a bridge to itself."""
    for table in tables_named(case.node.host, "filter"):
        chains = chains_in(table)
        for root in roots(chains):
            if root.name != "FORWARD":
                continue
            rules = [path.rule for path in list_paths(chains, root)]
            for place, rule in enumerate(rules):
                if (
                    _is_inside(rule)
                    and ends(rule)
                    and not any(_admits(one, rule) for one in rules[:place])
                ):
                    yield _report(case, rule)
                    return


def _is_inside(rule: Rule) -> bool:
    """Tell whether a rule is for all that goes from one device to itself."""
    devices = (rule.in_link, rule.out_link)
    if None in devices or devices[0] != devices[1] or rule.in_link is None:
        return False
    narrow = rule.src or rule.dst or rule.protocol or rule.hidden or rule.unread
    matched = any(match.name != "comment" for match in rule.matches)
    return not rule.in_link.negated and not narrow and not matched


def _admits(above: Rule, below: Rule) -> bool:
    """Tell whether a rule above may accept what another ends."""
    target = above.target.name if above.target is not None else ""
    links = ((above.in_link, below.in_link), (above.out_link, below.out_link))
    fits = all(link is None or link.negated or link == own for link, own in links)
    return fits and lets_new_in(above) and not target.startswith(_HARMLESS)


def _is_meant(complaint: Complaint) -> bool:
    same = complaint.same_node or Circumstance.ON_ONE_BRIDGE in complaint.circumstances
    inside = complaint.source in WORKLOADS and complaint.target in {*WORKLOADS, None}
    return bool(same) and inside and complaint.failure in {None, *LOSSES}


def _report(case: Case, rule: Rule) -> Finding:
    device = rule.in_link.name if rule.in_link is not None else ""
    sure = any(map(_is_meant, list_failing(case)))
    target = rule.target.name if rule.target is not None else ""
    ask = FollowUp(
        f"whether what fails goes from one port of {device} to another",
        "iptables -vnL FORWARD --line-numbers; ip -br addr; ip route get ADDRESS",
        "the rule's counter grows with each try: this is the cause",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Rule {rule.position} of FORWARD takes what goes from one port of {device} to "
            f"another ({target})."
        ),
        evidence=(rule.span,),
        reasoning=("Nothing above it accepts these packets.",),
        breaks=(f"connections between workloads on {device}",),
        repairs=(Repair(title="remove the rule", commands=(f"iptables {emit_rule(rule, '-D')}",)),),
        prevention="Leave enable_icc at true, or keep such rules in DOCKER-USER.",
        certainty=1.0 if sure else 0.6,
        asks=() if sure else (ask,),
        marks=(target, device),
    )
