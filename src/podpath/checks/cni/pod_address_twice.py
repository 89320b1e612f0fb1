"""pod-address-twice: two pods that run have the same address.

What it is
    `kubectl get pods -o wide` shows one address at two pods which are not on the host's network.
    Two address managers share a range (host-local of two nodes without a subnet of their own, a
    static range, leftovers of another plugin).

Why it breaks
    Packets reach whichever of the two the last route or ARP entry names; the other one
    intermittently loses its connections.

How to confirm
    kubectl get pods -A -o wide | awk '{print $7}' | sort | uniq -d

How to fix
    Delete both pods, and give each node a range of its own (ipam of the CNI configuration,
    podCIDR).

References
    the host-local plugin's page of containernetworking
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.node.case import Case

CATEGORIES = (Category.DUPLICATE_ADDRESS, Category.IPAM)
NAME = "pod-address-twice"


def check(case: Case) -> Iterator[Finding]:
    """Report addresses that two running pods have, unless they are a node's."""
    hosts = {
        item.text_at("address")
        for node in see(case, "Node")
        for item in node.items_at("status", "addresses")
    }
    hosts |= {str(item.address) for item in case.node.host.addresses.items}
    by_address: dict[str, list[ObjectSightings]] = {}
    for pod in see(case, "Pod"):
        address = pod.text_at("status", "podIP")
        runs = (
            pod.text_at("status", "phase") == "Running"
            and pod.text_at("spec", "hostNetwork") != "true"
        )
        if address and runs and address not in hosts:
            by_address.setdefault(address, []).append(pod)
    for address, owners in by_address.items():
        nodes = {pod.text_at("spec", "nodeName") for pod in owners}
        if len(owners) == 2 and len(nodes) == 2 and "" not in nodes:
            yield _report(address, owners)


def _report(address: str, owners: list[ObjectSightings]) -> Finding:
    one, other = owners
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The pods {one.title} and {other.title} on two nodes have the same address {address}."
        ),
        evidence=tuple(
            place.line for pod in owners if (place := pod.at("status", "podIP")) is not None
        ),
        reasoning=("An address of the host's network would be on one node only.",),
        breaks=(f"connections to {address}",),
        prevention="Let one manager give the addresses of a range.",
        marks=(address,),
    )
