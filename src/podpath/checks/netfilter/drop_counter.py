"""drop-counter: a dropping rule has counted packets.

What it is
    A DROP or REJECT rule, with or without conditions, whose packet counter is above zero.

Why it breaks
    Each packet that it has counted ended there. The counter alone does not say whether those are
    the packets in question: background noise from the Internet counts, too. If the ticket shows
    just that rule, or two listings between which its counter grew, it is most likely the one.

How to confirm
    iptables -Z CHAIN; try again; iptables -nvL CHAIN     # what counts now are your packets

How to fix
    Accept what is wanted above the rule, in the configuration of the program that wrote it.

References
    iptables(8), "-Z" and "-v"
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import chains_of, ends, owner_of
from podpath.checks.forwarded import Family, family_of
from podpath.checks.told import list_failing, may_pass
from podpath.checks.topology import option_values
from podpath.net.complaints import EndKind
from podpath.node.case import Case
from podpath.node.netfilter import Rule

CATEGORIES = (Category.HOST_FIREWALL, Category.NETWORK_POLICY, Category.RULE_ORDER)
NAME = "drop-counter"
_GUESTS = frozenset({Family.LIBVIRT, Family.LXC})
FEW = 12
"""In an excerpt of so many rules a counter stands out; in a whole ruleset there is always one."""


def check(case: Case) -> Iterator[Finding]:
    """Report the dropping rule that has counted most in an excerpt of few rules."""
    rules = [rule for _, chain in chains_of(case.node.host, "filter") for rule in chain.rules[:FEW]]
    counted = [rule for rule in rules if ends(rule) and rule.packets and _may_count(case, rule)]
    if counted and len(rules) <= FEW:
        yield _report(max(counted, key=lambda rule: rule.packets or 0))


def _may_count(case: Case, rule: Rule) -> bool:
    """Tell whether a rule may have counted what people say fails."""
    if rule.chain in {"INPUT", "OUTPUT"} and not may_pass(case, rule.chain):
        return False
    return not _drops_invalid(rule) and not (_is_of_guests(rule) and _are_pods_alone(case))


def _is_of_guests(rule: Rule) -> bool:
    """Tell whether a rule is for a bridge of virtual machines or system containers."""
    links = (link for link in (rule.in_link, rule.out_link) if link is not None)
    return any(not link.negated and family_of(link.name) in _GUESTS for link in links)


def _are_pods_alone(case: Case) -> bool:
    """Tell whether each sentence about a failure is about pods."""
    failing = tuple(list_failing(case))
    return bool(failing) and all(EndKind.POD in {one.source, one.target} for one in failing)


def _drops_invalid(rule: Rule) -> bool:
    return "INVALID" in {
        *option_values(rule, "conntrack", "ctstate"),
        *option_values(rule, "state", "state"),
    }


def _report(rule: Rule) -> Finding:
    whose = owner_of(rule)
    target = rule.target.name if rule.target is not None else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A {target} rule of {rule.chain}{f' ({whose})' if whose else ''} has ended "
            f"{rule.packets} packets."
        ),
        evidence=(rule.span,),
        reasoning=("Its counter shows that packets hit it.",),
        breaks=("packets that the rule matches",),
        prevention="Accept what is wanted above the rule.",
        certainty=0.7,
        marks=(target,),
        asks=(
            FollowUp(
                fact=f"whether the rule in {rule.chain} counts the failing packets",
                command=f"iptables -Z {rule.chain}; (try again); iptables -nvL {rule.chain}",
                decides="its counter grows with each attempt: this rule ends them",
            ),
        ),
    )
