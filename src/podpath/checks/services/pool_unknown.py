"""pool-unknown: a LoadBalancer service asks for an address pool that does not exist.

What it is
    An annotation of the service names a pool, and the pools that the evidence shows
    (IPAddressPool, AddressPool, or the ConfigMap of older MetalLB) have other names.

Why it breaks
    The controller takes an address from the named pool only. Without it the service keeps no
    address, or stays `<pending>`.

How to confirm
    kubectl get ipaddresspools -A; kubectl -n metallb-system get cm config -o yaml
    kubectl describe svc SERVICE               # AllocationFailed: unknown pool

How to fix
    Correct the annotation, or create the pool.

References
    MetalLB, Usage: requesting specific IPs and pools
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, names_of_service, see
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.LOAD_BALANCER,)
NAME = "pool-unknown"
ANNOTATIONS = ("metallb.universe.tf/address-pool", "metallb.io/address-pool")
POOLS = ("IPAddressPool", "AddressPool")


def check(case: Case) -> Iterator[Finding]:
    """Report each service whose pool none of those that are shown is."""
    pools = dict(_list_pools(case))
    if not pools:
        return
    for service in see(case, "Service"):
        for name in ANNOTATIONS:
            asked = service.at("metadata", "annotations", name)
            if asked is not None and asked.text and asked.text not in pools:
                yield _report(service, asked, pools)
                break


def _list_pools(case: Case) -> Iterator[tuple[str, Span]]:
    for pool in see(case, *POOLS):
        if pool.name:
            yield pool.name, pool.span
    for configured in see(case, "MetalLBConfig"):
        for item in configured.items_at("address-pools"):
            if item.text_at("name"):
                yield item.text_at("name"), item.line


def _report(service: ObjectSightings, asked: Tree, pools: dict[str, Span]) -> Finding:
    known = ", ".join(sorted(pools)[:3])
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The service {service.title} asks for the address pool {asked.text}, which does not "
            f"exist; the evidence shows {known}."
        ),
        evidence=(asked.line, *list(pools.values())[:2]),
        reasoning=("The controller takes an address from the named pool only.",),
        breaks=(f"{service.title} from outside: it gets no address",),
        prevention="Keep pools and the services that name them in one place.",
        marks=(asked.text,),
        about=names_of_service(service),
    )
