"""balancer-without-address: a LoadBalancer service gets no address.

What it is
    MetalLB, kube-vip or the cloud's controller says why it gives the service none: an empty or wrong pool, missing
    subnets or rights.

Why it breaks
    The service stays in <pending>, or keeps an address that nobody announces.

How to confirm
    kubectl describe svc NAME; kubectl get ipaddresspool,l2advertisement -A; kubectl logs -n metallb-system
      deploy/controller

How to fix
    Add addresses to the pool, or name one of it; tag subnets for the cloud, give its role the right.

References
    MetalLB, Usage; AWS, subnet discovery
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.LOAD_BALANCER,
    Category.CLOUD_NETWORK,
)
NAME = "balancer-without-address"
KINDS = (
    MessageKind.BALANCER_WITHOUT_ADDRESS,
    MessageKind.BALANCER_FAILED,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    service = get_value(said, "service", default="that asks for one")
    error = get_value(said, "error")
    error = f" ({error})" if error else ""
    meaning = Meaning(
        claim=f"The load balancer gives the service {service} no address{error}.",
        breaks="the service's outer address",
        cure="give the pool addresses, or mend what the controller names",
    )
    yield tell(NAME, said, meaning)
