"""pool-not-announced: nothing announces a load balancer's addresses.

What it is
    An L2Advertisement or BGPAdvertisement of MetalLB names pools that do not exist, or there is
    none at all; or the only node has the label that keeps speakers from announcing anything. Or a
    policy of Cilium's BGP control plane has no service selector, or one that none of the services
    shown matches.

Why it breaks
    The service gets an address from its pool, but no node answers ARP for it or announces it to a
    router. MetalLB announces no pool that no advertisement names (since 0.13), and from no node
    with the label node.kubernetes.io/exclude-from-external-load-balancers, which kubeadm gives its
    control plane. Cilium announces no service at all without `serviceSelector`.

How to confirm
    kubectl get ipaddresspools,l2advertisements,bgpadvertisements -A -o yaml
    kubectl get nodes -l node.kubernetes.io/exclude-from-external-load-balancers
    cilium bgp routes advertised ipv4 unicast

How to fix
    Make an L2Advertisement or BGPAdvertisement for the pool; take the label off a node that is to
    announce (kubectl label node NODE node.kubernetes.io/exclude-from-external-load-balancers-).
    Use the pool's real name; give the policy a serviceSelector that matches (`matchExpressions:
    [{key: somekey, operator: NotIn, values: ['never']}]` matches every service).

References
    MetalLB, Advanced configuration; Cilium, BGP Control Plane
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import ObjectSightings, is_of_all, see
from podpath.checks.stated import statements_of
from podpath.net.statements import ArpAnswer, NoObjects
from podpath.net.technologies import Technology
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.LOAD_BALANCER, Category.ROUTE_DISTRIBUTION)
NAME = "pool-not-announced"
ADVERTISED = ("L2Advertisement", "BGPAdvertisement")
EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers"
SUSPECTED = 0.8
ASK = FollowUp(
    "whether anything announces the pool",
    "kubectl get l2advertisements,bgpadvertisements,bgppeers -A",
    "no advertisement: this is the cause; a BGPAdvertisement: look at its sessions",
)

ASK_NODES = FollowUp(
    "whether there is a node without the label",
    f"kubectl get nodes -l '!{EXCLUDED}'",
    "none: no node announces the address",
)


def check(case: Case) -> Iterator[Finding]:
    """Report announcements of pools that are not there, and BGP policies that announce no
    service.
    """
    pools = {seen.name for seen in see(case, "IPAddressPool") if seen.name}
    for advertised in see(case, *ADVERTISED):
        named = advertised.items_at("spec", "ipAddressPools")
        missing = [item for item in named if item.text not in pools]
        if pools and named and len(missing) == len(named):
            claim = (
                f"{advertised.kind} {advertised.name} announces the pool "
                f"{missing[0].text}, but the pool is called {min(pools)}."
            )
            yield _report(claim, missing[0], missing[0].text)
        yield from _check_nodes(case, advertised)
    yield from _check_missing(case, pools)
    yield from _check_label(case)
    balanced = [
        seen for seen in see(case, "Service") if seen.text_at("spec", "type") == "LoadBalancer"
    ]
    for policy in see(case, "CiliumBGPPeeringPolicy"):
        for router in policy.items_at("spec", "virtualRouters"):
            if (
                router.at("neighbors") is not None
                and router.at("serviceSelector") is None
                and balanced
            ):
                claim = (
                    f"CiliumBGPPeeringPolicy {policy.name} has no serviceSelector, so Cilium "
                    "announces no service."
                )
                yield _report(claim, router.at("neighbors") or router, policy.name)
            yield from _check_selector(policy, router, balanced)


def _check_nodes(case: Case, advertised: ObjectSightings) -> Iterator[Finding]:
    """Report node selectors of which none fits any node, where a whole list shows their labels."""
    selectors = [item.at("matchLabels") for item in advertised.items_at("spec", "nodeSelectors")]
    labels = [node.at("metadata", "labels") for node in see(case, "Node")]
    if not selectors or not labels:
        return
    for wanted in selectors:
        for shown in labels:
            if wanted is None or shown is None or _fits(shown, wanted):
                return
    wanted, node = selectors[0], see(case, "Node")[0]
    if wanted is not None and wanted.fields and is_of_all(node.span):
        name, value = next(iter(wanted.fields.items()))
        yield replace(
            _report(
                (
                    f"{advertised.kind} {advertised.name} announces from nodes with "
                    f"{name}={value.text} alone, and no node has that label."
                ),
                value,
                value.text,
            ),
            evidence=(value.line, node.span),
        )


def _check_missing(case: Case, pools: set[str]) -> Iterator[Finding]:
    """Report pools of MetalLB for which there is said to be no advertisement."""
    if not pools or see(case, *ADVERTISED, "BGPPeer"):
        return
    missing = {
        kind: stated.span
        for none, stated in statements_of(case, NoObjects)
        for kind in none.kinds
        if kind.rstrip("s") in {"l2advertisement", "bgpadvertisement"}
    }
    kinds = {kind.rstrip("s") for kind in missing}
    silent = [stated.span for one, stated in statements_of(case, ArpAnswer) if not one.macs]
    if "l2advertisement" not in kinds:
        return
    sure = len(kinds) == len(ADVERTISED) or bool(silent)
    pool = next(seen for seen in see(case, "IPAddressPool") if seen.name in pools)
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"No L2Advertisement announces the pool {pool.name}, so no node answers for it.",
        evidence=(*missing.values(), pool.span, *silent[:1]),
        reasoning=("MetalLB gives addresses of a pool without it, and announces none of them.",),
        breaks=("connections from outside to load balancers' addresses",),
        repairs=(
            Repair(
                title="make an L2Advertisement for the pool",
                commands=("kubectl get l2advertisements,bgpadvertisements -A",),
            ),
        ),
        prevention="Keep pools and the objects that announce them in one file.",
        certainty=1.0 if sure else SUSPECTED,
        asks=() if sure else (ASK,),
        marks=(pool.name,),
    )


def _check_label(case: Case) -> Iterator[Finding]:
    """Report a cluster all of whose listed nodes are kept from announcing, where MetalLB is spoken
    of.
    """
    nodes = see(case, "Node")
    labeled = [(node, node.at("metadata", "labels", EXCLUDED)) for node in nodes]
    metallb = Technology.METALLB in case.mentions or bool(see(case, "IPAddressPool", "Service"))
    # a list of those with the label says nothing of others, and a second list of the same does
    whole = all(len(node.sights) > 1 for node in nodes)
    first = labeled[0][1] if labeled else None
    if not metallb or first is None or any(label is None for _, label in labeled):
        return
    names = ", ".join(node.name for node, _ in labeled[:3])
    picked = "-l" in (first.line.source.command or "").split()
    sure = whole if picked else len(nodes) == 1 and is_of_all(first.line)
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"No node may announce a load balancer's address: {names} has the label {EXCLUDED}.",
        evidence=tuple(label.line for _, label in labeled[:2] if label is not None),
        reasoning=("MetalLB's speaker leaves nodes with that label out.",),
        breaks=("connections from outside to load balancers' addresses",),
        repairs=(
            Repair(
                title="take the label off a node that is to announce",
                commands=(f"kubectl label node {labeled[0][0].name} {EXCLUDED}-",),
            ),
        ),
        prevention="Start speakers with --ignore-exclude-lb where control planes carry loads.",
        certainty=1.0 if sure else SUSPECTED,
        asks=() if sure else (ASK_NODES,),
        marks=(EXCLUDED,),
    )


def _check_selector(
    policy: ObjectSightings, router: Tree, balanced: list[ObjectSightings]
) -> Iterator[Finding]:
    """Report a selector that none of the services with shown labels fits."""
    wanted = router.at("serviceSelector", "matchLabels")
    labeled = [seen.at("metadata", "labels") for seen in balanced]
    if wanted is None or not wanted.fields or not labeled:
        return
    for labels in labeled:
        if labels is None or _fits(labels, wanted):
            return
    name, value = next(iter(wanted.fields.items()))
    chosen = f"{name}={value.text}"
    claim = (
        f"CiliumBGPPeeringPolicy {policy.name} announces services with {chosen}, but no "
        "LoadBalancer service has that."
    )
    yield _report(claim, value, value.text)


def _fits(labels: Tree, wanted: Tree) -> bool:
    return all(labels.text_at(name) == field.text for name, field in wanted.fields.items())


def _report(claim: str, tree: Tree, mark: str) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=claim,
        evidence=(tree.line,),
        reasoning=("Nobody outside the node can reach an address that nobody announces.",),
        breaks=("connections from outside to load balancers' addresses",),
        prevention="Keep pools and the objects that announce them in one file.",
        certainty=1.0,
        marks=(mark,),
    )
