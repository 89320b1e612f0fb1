"""policy-without-node-dns: a policy lets pods query the cluster's DNS pods, but they query the
node's own DNS cache.

What it is
    A pod's lookup at NodeLocal DNSCache's address (169.254.20.10, or what Kubespray uses:
    169.254.25.10) gets no answer, and each rule for port 53 in a NetworkPolicy's egress names pods
    or namespaces, and no range that contains that address.

Why it breaks
    The cache runs in the host's network and answers on a link-local address. No podSelector or
    namespaceSelector ever selects that, so a plugin that also filters traffic to the node drops the
    query. Pods that no policy selects still resolve names.

How to confirm
    kubectl get netpol -n NAMESPACE -o yaml; kubectl exec POD -- cat /etc/resolv.conf
    kubectl exec POD -- nslookup kubernetes.default 169.254.20.10

How to fix
    Add to the rule for port 53: - ipBlock: {cidr: 169.254.20.10/32}

References
    the documentation's page "Using NodeLocal DNSCache in Kubernetes Clusters"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import ObjectSightings, read_prefix, see
from podpath.checks.told import LOSSES
from podpath.net.addresses import Address
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.NETWORK_POLICY,)
NAME = "policy-without-node-dns"
CACHES = frozenset(map(Address.parse, ("169.254.20.10", "169.254.25.10")))
DNS_PORT = 53
LIKELY = 0.9
"""Where the policy is not shown to select the pod that asked."""
ASK = FollowUp(
    "whether the policy selects the pod that asks, and whether a pod without a policy gets an "
    "answer",
    "kubectl get netpol -A -o yaml; kubectl exec POD -- nslookup kubernetes.default 169.254.20.10",
    "only pods that the policy selects fail: its rule for port 53 lacks the cache's address",
)


def check(case: Case) -> Iterator[Finding]:
    """Report each policy whose rules for DNS leave the node's cache out, where a lookup there
    fails.
    """
    for address, failed in _list_silent(case):
        for policy in see(case, "NetworkPolicy"):
            rules = list(_list_rules(policy))
            if rules and not any(_admits(rule, address) for rule in rules):
                found = _report(policy, address, failed, rules[0])
                others = any(one.works for one in case.complaints)
                yield replace(found, proves=LOSSES) if others else found
                return


def _list_silent(case: Case) -> Iterator[tuple[Address, Span]]:
    for one in case.attempts:
        if one.is_bad and one.probe.dst in CACHES and one.probe.dport == DNS_PORT:
            yield one.probe.dst, one.span
    for other in case.unplaced:
        if other.dst is not None and other.dst in CACHES and other.dport == DNS_PORT:
            yield other.dst, other.span


def _list_rules(policy: ObjectSightings) -> Iterator[Tree]:
    """Yield the egress rules that speak of port 53 alone; a rule for all ports names its peers for
    another reason.
    """
    for rule in policy.items_at("spec", "egress") or policy.items_at("egress"):
        ports = {port.text_at("port") for port in rule.items_at("ports")}
        if str(DNS_PORT) in ports:
            yield rule


def _admits(rule: Tree, address: Address) -> bool:
    """Tell whether a rule lets a packet to an address pass that is no pod's."""
    peers = rule.items_at("to")
    blocks = [read_prefix(peer.text_at("ipBlock", "cidr")) for peer in peers]
    return not peers or any(block is not None and block.covers(address) for block in blocks)


def _report(policy: ObjectSightings, address: Address, failed: Span, rule: Tree) -> Finding:
    peer = next(iter(rule.items_at("to")), rule)
    selector = peer.at("namespaceSelector", "matchLabels") or peer
    name = next(iter(selector.fields), "")
    shown = selector.at(name) or selector
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Pods send DNS queries to {address}, the node's own DNS cache, but the egress rule "
            f"for port {DNS_PORT} admits only pods."
        ),
        evidence=(shown.line, failed),
        reasoning=("No pod or namespace selector selects an address of the node.",),
        breaks=("all name lookups in each pod that the policy selects",),
        prevention="Add the cache's address as an ipBlock to each policy that limits egress.",
        certainty=LIKELY,
        asks=(ASK,),
        marks=(str(address),),
        about=frozenset({policy.name}) - {""},
    )
