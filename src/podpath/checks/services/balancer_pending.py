"""balancer-pending: a service of type LoadBalancer has no address, so it cannot be reached from
outside.

What it is
    `kubectl get svc` shows `<pending>` for the outer address of a LoadBalancer, though the service
    is minutes old.

Why it breaks
    Kubernetes itself gives no such address: a controller has to (of the cloud, MetalLB, Cilium's
    LB-IPAM, kube-vip, klipper-lb). On your own machines there is none until you install one and
    give it a pool of addresses.

How to confirm
    kubectl describe svc NAME
    kubectl get pods -A | grep -i -e metallb -e kube-vip -e cloud-controller
    kubectl get ipaddresspools,l2advertisements,ciliumloadbalancerippools -A

How to fix
    Install MetalLB or its like and give it a pool, or a CiliumLoadBalancerIPPool; in a cloud fix
    the controller. Otherwise use a NodePort or the host's network.

References
    Kubernetes, Service, type LoadBalancer; MetalLB, Installation; Cilium, LoadBalancer IP Address
    Management
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import see
from podpath.net.complaints import EndKind
from podpath.net.failures import FailureKind
from podpath.node.case import Case

CATEGORIES = (Category.LOAD_BALANCER,)
NAME = "balancer-pending"
POOLS = ("IPAddressPool", "AddressPool", "CiliumLoadBalancerIPPool", "MetalLBConfig")
OUTSIDE = frozenset({EndKind.OUTSIDE, EndKind.LOAD_BALANCER})


def check(case: Case) -> Iterator[Finding]:
    """Report services that wait for an address, certain where what fails is what comes from
    outside.
    """
    asked = any(
        not one.works
        and (OUTSIDE & {one.source, one.target} or one.failure is FailureKind.NO_ADDRESS)
        for one in case.complaints
    )
    for service in see(case, "Service"):
        pending = service.at("status", "pending")
        if pending is None or any(service.items_at("status", "loadBalancer", "ingress")):
            continue
        pools = see(case, *POOLS)
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"The LoadBalancer service {service.title} has no outer address: no controller "
                "gave it one."
            ),
            evidence=(pending.line,),
            reasoning=(
                (
                    "Kubernetes itself gives no such addresses: MetalLB, Cilium or a cloud's "
                    "controller does."
                ),
            ),
            breaks=(f"connections from outside to {service.title}",),
            prevention=(
                "Install a controller with a pool of addresses where the cluster has no cloud."
            ),
            certainty=1.0 if asked and not pools else 0.6,
            asks=()
            if asked and not pools
            else (
                FollowUp(
                    "why it waits",
                    f"kubectl describe svc {service.name}",
                    "its events name the reason",
                ),
            ),
            marks=("<pending>",),
        )
