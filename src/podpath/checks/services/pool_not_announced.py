"""pool-not-announced: nothing announces a load balancer's addresses.

What it is
    An L2Advertisement or BGPAdvertisement of MetalLB names pools that do not exist; or a policy of
    Cilium's BGP control plane has no service selector, or one that none of the services shown
    matches.

Why it breaks
    The service gets an address from its pool, but no node answers ARP for it or announces it to a
    router. Cilium announces no service at all without `serviceSelector`.

How to confirm
    kubectl get ipaddresspools,l2advertisements,bgpadvertisements -A -o yaml
    cilium bgp routes advertised ipv4 unicast

How to fix
    Use the pool's real name; give the policy a serviceSelector that matches (`matchExpressions:
    [{key: somekey, operator: NotIn, values: ['never']}]` matches every service).

References
    MetalLB, Advanced configuration; Cilium, BGP Control Plane
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.LOAD_BALANCER, Category.ROUTE_DISTRIBUTION)
NAME = "pool-not-announced"


def check(case: Case) -> Iterator[Finding]:
    """Report announcements of pools that are not there, and BGP policies that announce no
    service.
    """
    pools = {seen.name for seen in see(case, "IPAddressPool") if seen.name}
    for advertised in see(case, "L2Advertisement", "BGPAdvertisement"):
        named = advertised.items_at("spec", "ipAddressPools")
        missing = [item for item in named if item.text not in pools]
        if pools and named and len(missing) == len(named):
            claim = (
                f"{advertised.kind} {advertised.name} announces the pool "
                f"{missing[0].text}, but the pool is called {min(pools)}."
            )
            yield _report(claim, missing[0], missing[0].text)
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
