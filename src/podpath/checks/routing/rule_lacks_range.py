"""rule-lacks-range: a pod's policy rules cover only some networks, and what fails is with another
one.

What it is
    `ip rule` sends what an address sends to its own table only if the destination is in a network
    that a rule names (`from 10.0.4.20 to 10.0.0.0/16 lookup 2`), and no rule for the address covers
    every destination. Plugins of clouds write such a rule for each network that they know of.

Why it breaks
    What goes to another network takes main, so it leaves by the host's first card, where it is also
    translated to the host's own address. A client in a peered network that reaches the pod through
    its second card gets the answers from the first one, with another source, and drops them.

How to confirm
    ip rule | grep ADDRESS; ip route get PEER from ADDRESS iif DEVICE
    tcpdump -ni any host PEER

How to fix
    Let the plugin know the network: on Amazon AWS_VPC_K8S_CNI_EXTERNALSNAT=true, or
    AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS=NETWORK. By hand: ip rule add from ADDRESS to NETWORK lookup
    TABLE.

References
    amazon-vpc-cni-k8s, README (AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS) and pkg/networkutils;
    ip-rule(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.routing.gateway_outside_network import INNER
from podpath.checks.stated import spans_of
from podpath.checks.told import WORKLOADS, list_lost
from podpath.checks.topology import spell_table
from podpath.net.addresses import WIDTH, Address, Prefix
from podpath.net.complaints import Complaint
from podpath.node.case import Case
from podpath.node.routing import MAIN, PolicyRule

CATEGORIES = (Category.POLICY_ROUTING, Category.SOURCE_ADDRESS, Category.ASYMMETRIC_PATH)
NAME = "rule-lacks-range"
LIKELY = 0.8
"""Whether what fails comes in by the second card is not shown."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first address whose rules leave out a private network that gets no answer."""
    rules = case.node.host.rules
    if not rules.complete:
        return
    for address in dict.fromkeys(_own(rule) for rule in rules.items):
        ranges = [] if address is None else _list_ranges(rules.items, address)
        for complaint in list_lost(case) if ranges else ():
            left_out = _find_left_out(case, complaint, ranges)
            if left_out is not None:
                yield _report(str(address), left_out, ranges, complaint)
                return


def _own(rule: PolicyRule) -> Address | None:
    """Return the single address whose packets a rule sends to a table of its own."""
    src = rule.src if rule.span is not None and not rule.negated and not rule.unread else None
    single = src is not None and src.length == WIDTH[4] and rule.family == 4
    return src.address if src is not None and single and rule.table < MAIN - 1 else None


def _list_ranges(rules: tuple[PolicyRule, ...], address: Address) -> list[PolicyRule]:
    """Return the rules for what an address sends, if each is for one network; rules for marks and
    devices beside them may lead elsewhere, but only of what main has.
    """
    own = [rule for rule in rules if rule.src is not None and rule.src.covers(address)]
    return own if all(rule.dst is not None and rule.dst.length for rule in own) else []


def _find_left_out(
    case: Case, complaint: Complaint, ranges: list[PolicyRule]
) -> Prefix | Address | None:
    """Return what a sentence about a pod names and no rule is for."""
    if not {complaint.source, complaint.target} & WORKLOADS:
        return None
    near = [rule.dst for rule in ranges if rule.dst is not None]
    own = {item.prefix for item in case.node.host.addresses.items if item.span is not None}
    named: tuple[Prefix | Address, ...] = (*complaint.prefixes, *complaint.addresses)
    for one in named:
        prefix = one if isinstance(one, Prefix) else Prefix.parse(str(one))
        beyond = prefix not in own and any(one.covers(prefix) for one in INNER)
        if beyond and not any(dst.overlaps(prefix) for dst in near):
            return one
    return None


def _report(
    address: str, left_out: Prefix | Address, ranges: list[PolicyRule], complaint: Complaint
) -> Finding:
    table = spell_table(ranges[0].table, ranges[0].span)
    networks = ", ".join(str(rule.dst) for rule in ranges)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"What {address} sends goes to table {table} only if it is for {networks}: packets "
            f"for {left_out} use the main table."
        ),
        evidence=(*spans_of(ranges), complaint.span),
        reasoning=(
            "A rule for an address that names a destination covers that destination alone.",
        ),
        breaks=(
            f"connections between {address} and {left_out} that come in through the second card",
        ),
        prevention="Tell the plugin of each network that is peered.",
        certainty=LIKELY,
        marks=(address, str(left_out)),
        asks=(
            FollowUp(
                f"through which card requests to {address} come in, and through which its answers "
                "leave",
                f"ip route get {left_out} from {address} iif DEVICE; tcpdump -ni any host PEER",
                "in through one and out through the other: this is the cause",
            ),
        ),
    )
