"""exempt-from-snat: a rule exempts pods' packets to the failing destination from translation, while
the node itself reaches it.

What it is
    Above the rule that translates sources, another one returns or accepts packets to a range that
    contains the address that pods cannot reach (ip-masq-agent's nonMasqueradeCIDRs, the AWS
    plugin's VPC ranges, an admin's exception). From the node, with its own address, the same
    connection works.

Why it breaks
    Pods' packets to that range leave with the pods' own addresses. Hosts there need a route back to
    them, and a firewall there has to know them: a peered network, a VPN or an on-premises network
    often has neither.

How to confirm
    iptables -t nat -nvL POSTROUTING; tcpdump -ni UPLINK host DESTINATION   # with which source

How to fix
    Take the range out of the exceptions (nonMasqueradeCIDRs; AWS_VPC_K8S_CNI_EXTERNALSNAT and
    AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS), or give the far side a route to the pods' range and let its
    firewall pass it.

References
    kubernetes-sigs/ip-masq-agent; aws/amazon-vpc-cni-k8s, docs; iptables-extensions(8), SNAT
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.coverage import chains_in
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import tables_named
from podpath.checks.objects import failures
from podpath.checks.told import LOSSES, WORKLOADS, list_failing
from podpath.net.addresses import Address
from podpath.net.complaints import EndKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule
from podpath.node.node import HOST
from podpath.xtables.legality import SOURCE_NAT

CATEGORIES = (Category.MASQUERADE_MISSING, Category.SOURCE_ADDRESS)
NAME = "exempt-from-snat"
LIKELY = 0.8
"""The far side may also let only the node's address pass for another reason."""
_LEAVES = frozenset({"RETURN", "ACCEPT"})


def check(case: Case) -> Iterator[Finding]:
    """Report the first exception that takes what pods lose and the node does not."""
    lost = tuple(_list_lost(case))
    for table in tables_named(case.node.host, "nat") if lost else ():
        for chain in chains_in(table).values():
            for address, span in lost:
                found = _find_exception(chain, address)
                if found is not None:
                    yield _report(*found, address, span)
                    return


def _list_lost(case: Case) -> Iterator[tuple[Address, Span]]:
    """Yield the addresses that a pod gets no answer from, and that are known to answer the node."""
    reached = {
        one.probe.dst for one in case.attempts if not one.is_bad and one.probe.netns in {HOST, None}
    }
    told = any(one.works and one.source is EndKind.NODE for one in case.complaints)
    tried = [(one.dst, one.span) for one in failures(case) if one.result in LOSSES]
    said = [
        (address, one.span)
        for one in list_failing(case)
        if one.source in WORKLOADS and one.failure in {None, *LOSSES}
        for address in one.addresses
    ]
    inner = [(dst, span) for dst, span in tried if span.source.netns not in {None, HOST}]
    for address, span in (*inner, *said):
        if address in reached or told:
            yield address, span


def _find_exception(chain: Chain, address: Address) -> tuple[Rule, Rule] | None:
    """Return the rule of a chain that lets an address leave as it is, and the one below it that
    would translate.
    """
    translating = [rule for rule in chain.rules if _target(rule) in SOURCE_NAT]
    for rule in chain.rules:
        below = next((one for one in translating if one.position > rule.position), None)
        if below is not None and _target(rule) in _LEAVES and _is_for(rule, address):
            return rule, below
    return None


def _target(rule: Rule) -> str:
    return rule.target.name if rule.target is not None else ""


def _is_for(rule: Rule, address: Address) -> bool:
    """Tell whether a rule takes everything to a range that holds the address."""
    selectors = (rule.protocol, rule.in_link, rule.fragment)
    narrow = rule.unread or any(selector is not None for selector in selectors)
    if narrow or any(match.name != "comment" for match in rule.matches):
        return False
    return rule.dst is not None and not rule.dst.negated and rule.dst.prefix.covers(address)


def _report(exempt: Rule, translating: Rule, address: Address, lost: Span) -> Finding:
    prefix = exempt.dst.prefix if exempt.dst is not None else None
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Pods' packets to {address} leave with the pods' own addresses: a rule exempts "
            f"{prefix} from translation, while the node, with its own address, gets answers."
        ),
        evidence=(exempt.span, translating.span, lost),
        reasoning=("The exception stands above the rule that translates, so it decides.",),
        breaks=(f"connections of pods to {prefix} where nobody routes the pods' range back",),
        prevention="Keep ranges without a route back to the pods out of the exceptions.",
        certainty=LIKELY,
        proves=LOSSES,
        asks=(
            FollowUp(
                f"whether what is behind {prefix} has a route to the pods' range",
                f"tcpdump -ni UPLINK host {address}; the far side's route table and firewall",
                "packets leave with a pod's address and nothing comes back: it has none",
            ),
        ),
        marks=(str(prefix),),
    )
