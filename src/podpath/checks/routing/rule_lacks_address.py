"""rule-lacks-address: the node has policy rules for each of its pods' addresses, and none for the
one that fails.

What it is
    `ip rule` lists rules for single addresses, as plugins write one or two for each pod (`from all
    to 10.0.1.5 lookup main`, `from 10.0.1.5 lookup 3`), and none of them is for the address of the
    pod that fails. If Amazon's plugin wrote them (its mark 0x80 shows that), a rule for one pod is
    enough to tell that another's is missing.

Why it breaks
    The pod's packets take the main table's default route, through the node's first card, although
    the address belongs to another one: the network drops them, or answers come back by another way.
    What other pods of the node send to it follows their own rule out of the machine.
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
from podpath.net.addresses import WIDTH, Address, MaskedMark, Prefix
from podpath.net.complaints import Complaint, EndKind
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.routing import MAIN, PolicyRule

CATEGORIES = (Category.POLICY_ROUTING, Category.NETWORK_MANAGER)
NAME = "rule-lacks-address"
LEAST = 3
"""Addresses with a rule of their own from which it is a plugin's habit."""
_AMAZON = MaskedMark(0x80, 0x80)
"""The mark of whose packets Amazon's plugin has main look up; it writes two rules for each pod."""
NEAR = 16
"""Bits that addresses of one plugin's networks have in common."""
QUOTED = 3
LIKELY = 0.9


def check(case: Case) -> Iterator[Finding]:
    """Report a pod's address that fails and has no rule, where others have."""
    rules = [rule for rule in case.node.host.rules.items if _single(rule) is not None]
    having = {address for rule in rules if (address := _single(rule)) is not None}
    least = 1 if _is_amazons(case) else LEAST
    if len(having) < least or not case.node.host.rules.complete:
        return
    for complaint in list_failing(case):
        left_out = _find_left_out(case, complaint, having)
        if left_out is not None:
            yield _report(left_out, rules, complaint, sure=_is_certain(case, complaint))
            return


def _is_amazons(case: Case) -> bool:
    """Tell whether Amazon's plugin wrote the rules, which has its habits by its first pod."""
    return any(
        rule.mark == _AMAZON and rule.table == MAIN and rule.span is not None
        for rule in case.node.host.rules.items
    )


def _find_left_out(case: Case, complaint: Complaint, having: set[Address]) -> Address | None:
    """Return the pod's address of a sentence that has no rule. Where the sentence names several,
    they are of this node only if they are said to be of one node, and the others have a rule.
    """
    own = [one for one in complaint.addresses if one.family == 4]
    left_out = [one for one in own if _is_left_out(case, one, having)]
    alone = len(own) == 1 or complaint.same_node
    if complaint.source is not EndKind.POD or len(left_out) != 1 or not alone:
        return None
    return left_out[0] if len(own) == 1 or set(own) - {left_out[0]} <= having else None


def _is_certain(case: Case, complaint: Complaint) -> bool:
    """Tell whether the pod is one of this node's and not on its network: it is said to be on one
    node with a pod that has its rule, and all of the node's own addresses are shown.
    """
    shown = case.node.host.addresses.complete
    return shown and complaint.same_node is True and len(complaint.addresses) > 1


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


def _report(address: Address, rules: list[PolicyRule], said: Complaint, *, sure: bool) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The node has policy rules for the addresses of other pods, but none for {address}.",
        evidence=(*list_spans(rules)[-QUOTED:], said.span),
        reasoning=(
            (
                "Without a rule of its own, its packets use the main table, whichever card it "
                "belongs to."
            ),
        ),
        breaks=(f"packets from and to {address}",),
        prevention="Keep systemd-networkd from removing rules that it did not set.",
        certainty=1.0 if sure else LIKELY,
        marks=(str(address),),
        asks=()
        if sure
        else (
            FollowUp(
                f"whether {address} belongs to a pod of this node, and through which card its "
                "packets leave",
                f"kubectl get pods -A -o wide | grep {address}; ip route get 8.8.8.8 from {address}"
                " iif DEVICE; journalctl -u systemd-networkd | tail",
                "it runs here, and the answer names a card other than the one of its address: its "
                "rules are gone",
            ),
        ),
    )
