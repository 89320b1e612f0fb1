"""stale-endpoint: a service leads to an address that no pod has.

What it is
    Endpoints name the address of a pod that was replaced, or were written by hand and never
    followed a change. Endpoints of a service without a selector stay as they are forever; others
    stay stale while the controller is not running.

Why it breaks
    kube-proxy and meshes send connections to an address that no pod has: no route to host, a
    timeout, or another pod that has the address now.

How to confirm
    kubectl get endpoints NAME; kubectl get pods -o wide
    kubectl -n kube-system logs kube-controller-manager-NODE

How to fix
    Restart the program that should write them (the endpoint controller), or correct Endpoints that
    somebody wrote by hand.

References
    the documentation's page "Services without selectors"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.node_ranges import list_addresses
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
    shown = see(case, "Pod")
    known = {pod.text_at("status", "podIP") for pod in shown} | list_addresses(see(case, "Node"))
    addressed = [pod for pod in shown if pod.text_at("status", "podIP")]
    for found in see(case, "Endpoints"):
        own = _list_pods(case, found, addressed)
        if not own:
            continue
        for subset in found.items_at("subsets"):
            for item in subset.items_at("addresses"):
                address = item.at("ip")
                if address is not None and address.text not in known:
                    yield _report(found, address, own[0])


def _list_pods(
    case: Case, found: ObjectSightings, addressed: Sequence[ObjectSightings]
) -> list[ObjectSightings]:
    """Return the pods with addresses that endpoints are of: those that the service chooses, else
    those that are named as it.
    """
    own: list[ObjectSightings] = []
    for service in see(case, "Service"):
        if service.name == found.name and is_near(service.namespace, found.namespace):
            own += (pod.seen for pod in chosen(case, service))
            break
    own = [pod for pod in own if pod.text_at("status", "podIP")]
    if own or not found.name:
        return own
    return [pod for pod in addressed if pod.name.startswith(f"{found.name}-")]


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
        reasoning=("Nothing answers at an address that no pod has.",),
        breaks=(f"a share of the connections to {found.title}",),
        prevention="Use a selector instead of writing endpoints by hand.",
        certainty=0.7,
        marks=(address.text,),
    )
