"""stale-endpoint: a service leads to an address that no pod has.

What it is
    Endpoints name the address of a pod that was replaced, or were written by hand and never
    followed a change. Endpoints of a service without a selector stay as they are forever; others
    stay stale while the controller does not run.

Why it breaks
    kube-proxy and meshes send connections to an address that no pod has: no route to host, a
    timeout, or another pod that has the address now.

How to confirm
    kubectl get endpoints NAME; kubectl get pods -o wide
    kubectl -n kube-system logs kube-controller-manager-NODE

How to fix
    Restart what should write them (the endpoint controller), or correct Endpoints that somebody
    wrote by hand.

References
    the documentation's page "Services without selectors"
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, chosen, is_near, see
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (
    Category.STALE_DNAT,
    Category.NO_ENDPOINTS,
)
NAME = "stale-endpoint"


def check(case: Case) -> Iterator[Finding]:
    """Report endpoints whose address none of the service's pods has, where those are shown."""
    pods_shown = see(case, "Pod")
    living = {pod.text_at("status", "podIP") for pod in pods_shown}
    hosts = {
        item.text_at("address")
        for node in see(case, "Node")
        for item in node.items_at("status", "addresses")
    }
    for found in see(case, "Endpoints"):
        service = next(
            (
                one
                for one in see(case, "Service")
                if one.name == found.name and is_near(one.namespace, found.namespace)
            ),
            None,
        )
        own = (
            []
            if service is None
            else [pod for pod in chosen(case, service) if pod.seen.text_at("status", "podIP")]
        )
        own_named = [
            pod
            for pod in pods_shown
            if found.name
            and pod.name.startswith(f"{found.name}-")
            and pod.text_at("status", "podIP")
        ]
        if not own and not own_named:
            continue
        for subset in found.items_at("subsets"):
            for item in subset.items_at("addresses"):
                address = item.at("ip")
                if address is not None and address.text not in living | hosts:
                    yield _report(found, address, own[0].seen if own else own_named[0])


def _report(found: ObjectSightings, address: Tree, pod: ObjectSightings) -> Finding:
    place = pod.at("status", "podIP")
    living = f"{pod.name}: {pod.text_at('status', 'podIP')}"
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"The endpoints of {found.title} have {address.text}, which none of the pods shown has "
            f"({living})."
        ),
        evidence=(address.line, *((place.line,) if place is not None else ())),
        reasoning=("An address that no pod has answers nobody.",),
        breaks=(f"a share of the connections to {found.title}",),
        prevention="Let selectors write endpoints.",
        certainty=0.7,
        marks=(address.text,),
    )
