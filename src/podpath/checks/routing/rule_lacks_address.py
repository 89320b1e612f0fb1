"""rule-lacks-address: the node has policy rules for each of its pods' addresses, and none for the
one that fails.

What it is
    `ip rule` lists rules for single addresses, as plugins write one or two for each pod (`from all
    to 10.0.1.5 lookup main`, `from 10.0.1.5 lookup 3`), and none of them is for the address of the
    pod that fails.

Why it breaks
    The pod's packets take the main table's default route, through the node's first card, although
    the address belongs to another one: the network drops them, or answers come back by another way.
    systemd-networkd removes rules that it did not set whenever it configures a card
    (ManageForeignRoutingPolicyRules), such as when another network interface is attached.

How to confirm
    ip rule | grep ADDRESS; ip route get 8.8.8.8 from ADDRESS iif DEVICE
    journalctl -u systemd-networkd; networkctl list

How to fix
    ManageForeignRoutingPolicyRules=no and ManageForeignRoutes=no in networkd.conf, keep networkd
    off the plugin's cards (Unmanaged=yes), and recreate the pod.

References
    networkd.conf(5); amazon-vpc-cni-k8s, pkg/networkutils (pod rules, 512 and 1536); ip-rule(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import list_failing
from podpath.net.addresses import WIDTH, Address, Prefix
from podpath.net.complaints import EndKind
from podpath.net.provenance import Span, list_spans
from podpath.node.case import Case
from podpath.node.routing import PolicyRule

CATEGORIES = (Category.POLICY_ROUTING, Category.NETWORK_MANAGER)
NAME = "rule-lacks-address"
LEAST = 3
"""Addresses with a rule of their own from which it is a plugin's habit."""
NEAR = 16
"""Bits that addresses of one plugin's networks have in common."""
QUOTED = 3


def check(case: Case) -> Iterator[Finding]:
    """Report a pod's address that fails and has no rule, where others have."""
    rules = [rule for rule in case.node.host.rules.items if _single(rule) is not None]
    having = {address for rule in rules if (address := _single(rule)) is not None}
    if len(having) < LEAST or not case.node.host.rules.complete:
        return
    for complaint in list_failing(case):
        own = [one for one in complaint.addresses if one.family == 4]
        if complaint.source is EndKind.POD and len(own) == 1 and _is_left_out(case, own[0], having):
            yield _report(own[0], rules, complaint.span)
            return


def _single(rule: PolicyRule) -> Address | None:
    """Return the one address that a rule is for; None for other rules."""
    plain = rule.span is not None and rule.family == 4 and not rule.negated
    for prefix in (rule.src, rule.dst):
        if plain and prefix is not None and prefix.length == WIDTH[4]:
            return prefix.address
    return None


def _is_left_out(case: Case, address: Address, having: set[Address]) -> bool:
    """Tell whether an address of the pods' networks has no rule, and is none of the host's own."""
    near = Prefix.of(address, NEAR)
    own = {item.address for item in case.node.host.addresses.items}
    return address not in having | own and any(near.covers(one) for one in having)


def _report(address: Address, rules: list[PolicyRule], said: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The node has policy rules for the addresses of other pods, and none for {address}.",
        evidence=(*list_spans(rules)[-QUOTED:], said),
        reasoning=(
            "Without a rule of its own, its packets take the main table, whatever card it is of.",
        ),
        breaks=(f"packets from and to {address}",),
        prevention="Keep systemd-networkd off rules that it did not set.",
        certainty=0.9,
        marks=(str(address),),
        asks=(
            FollowUp(
                f"whether {address} is a pod's of this node, and by which card its packets leave",
                f"kubectl get pods -A -o wide | grep {address}; ip route get 8.8.8.8 from {address}"
                " iif DEVICE; journalctl -u systemd-networkd | tail",
                "it runs here, and the answer names another card than its address is of: its rules "
                "are gone",
            ),
        ),
    )
