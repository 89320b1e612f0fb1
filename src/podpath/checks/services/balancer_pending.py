"""balancer-pending: a service of type LoadBalancer has no address, so it cannot be reached from
outside.

What it is
    `kubectl get svc` shows `<pending>` for the external address of a LoadBalancer, although the
    service is minutes old.

Why it breaks
    Kubernetes itself assigns no such address: a controller has to (the cloud's, MetalLB, Cilium's
    LB-IPAM, kube-vip, klipper-lb). On your own machines there is none until you install one and
    give it a pool of addresses.

How to confirm
    kubectl describe svc NAME
    kubectl get pods -A | grep -i -e metallb -e kube-vip -e cloud-controller
    kubectl get ipaddresspools,l2advertisements,ciliumloadbalancerippools -A

How to fix
    Install MetalLB or a similar controller and give it a pool, or create a
    CiliumLoadBalancerIPPool; in a cloud, fix the controller. Otherwise use a NodePort or the host's
    network.

References
    Kubernetes, Service, type LoadBalancer; MetalLB, Installation; Cilium, LoadBalancer IP Address
    Management
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.net.complaints import EndKind
from podpath.net.failures import FailureKind
from podpath.node.case import Case

CATEGORIES = (Category.LOAD_BALANCER,)
NAME = "balancer-pending"
POOLS = ("IPAddressPool", "AddressPool", "CiliumLoadBalancerIPPool", "MetalLBConfig")
INGRESS = ("status", "loadBalancer", "ingress")
DEMANDS = ("loadBalancerClass", "loadBalancerIP")
OWN = "kubectl.kubernetes.io/"
"""How kubectl's own annotations begin, which ask nothing of anybody."""
CONTROLLER = re.compile(
    r"metallb|kube-?vip|cloud-(?:controller|provider)|\bccm\b|load-?balancer-controller|openelb|"
    r"porter-manager|purelb|servicelb|svclb|klipper-lb|ip-?pool|l2-?advertisement|address-?pool|"
    r"lb-?ipam",
    re.IGNORECASE,
)
"""Words by which those that give addresses to services, and their pools, are known."""
OUTSIDE = frozenset({EndKind.OUTSIDE, EndKind.LOAD_BALANCER})


def check(case: Case) -> Iterator[Finding]:
    """Report services that wait for an address: certain where what fails is what comes from
    outside, and nothing in sight could give one.
    """
    services = see(case, "Service")
    asked = any(
        not one.works
        and (OUTSIDE & {one.source, one.target} or one.failure is FailureKind.NO_ADDRESS)
        for one in case.complaints
    )
    given = any(any(service.items_at(*INGRESS)) for service in services)
    alone = asked and not given and not see(case, *POOLS) and not _shows_controller(case)
    for service in services:
        pending = service.at("status", "pending")
        if pending is None or any(service.items_at(*INGRESS)):
            continue
        certain = alone and not _demands(service)
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"The LoadBalancer service {service.title} has no external address: no controller "
                "gave it one."
            ),
            evidence=(pending.line,),
            reasoning=(
                (
                    "Kubernetes itself assigns no such addresses: MetalLB, Cilium or a cloud's "
                    "controller does."
                ),
            ),
            breaks=(f"connections from outside to {service.title}",),
            prevention=("Outside a cloud, install a controller with a pool of addresses."),
            certainty=1.0 if certain else 0.6,
            asks=()
            if certain
            else (
                FollowUp(
                    "why it is pending",
                    f"kubectl describe svc {service.name}",
                    "its events state the reason",
                ),
            ),
            marks=("<pending>",),
        )


def _demands(service: ObjectSightings) -> bool:
    """Tell whether a service asks something of its controller, which that may be unable to give."""
    asked = any(service.at("spec", key) is not None for key in DEMANDS)
    notes = service.at("metadata", "annotations")
    return asked or (notes is not None and any(not key.startswith(OWN) for key in notes.fields))


def _shows_controller(case: Case) -> bool:
    """Tell whether anything that is shown or told names one of those that give addresses: then it
    has a reason of its own not to.
    """
    spans = [
        *(one.span for one in case.objects),
        *(one.span for one in case.messages),
        *(one.span for one in case.gaps),
        *(one.span for one in case.complaints),
    ]
    sources = {span.source for span in spans}
    return any(CONTROLLER.search(line) for source in sources for line in source.lines)
