"""pod-address-twice: two running pods have the same address.

What it is
    `kubectl get pods -o wide` shows one address for two pods that are not on the host's network.
    Two IPAM plugins share a range (host-local on two nodes without their own subnets, a static
    range, leftovers of another plugin).

Why it breaks
    Packets reach whichever pod the current route or ARP entry points to; the other one loses its
    connections intermittently.

    Pods on the host's network have their node's address, so the same address also shows up twice if
    two nodes share one; a table of pods cannot tell these cases apart. The finding is certain if
    the pods' own specs are shown, or if the address is in a pod range. Two pods of one node count
    where the node is named by its own address, which is another one.

How to confirm
    kubectl get pods -A -o wide | awk '{print $7}' | sort | uniq -d; then `kubectl get pod POD -o
    jsonpath='{.spec.hostNetwork}'` of both

How to fix
    Delete both pods, and give each node its own range (ipam in the CNI configuration, podCIDR).

References
    the host-local plugin's page of containernetworking
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.cni.node_address_twice import HOSTED
from podpath.checks.cni.pod_cidr import list_pod_ranges
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.node_ranges import list_addresses
from podpath.checks.objects import ObjectSightings, is_on_host_network, see
from podpath.net.addresses import WIDTH, Address, Prefix, read_address
from podpath.node.case import Case

CATEGORIES = (Category.DUPLICATE_ADDRESS, Category.IPAM)
NAME = "pod-address-twice"
POSSIBLE = 0.6
BESIDE = 2
"""Other addresses of a node's pods from which they are a range of its own."""
"""Where no line tells that the pods are not on the host's network."""


def check(case: Case) -> Iterator[Finding]:
    """Report addresses that two running pods have, unless they are a node's."""
    hosts = _addresses_of_nodes(case)
    by_address: dict[Address, list[ObjectSightings]] = {}
    for pod in see(case, "Pod"):
        address = read_address(pod.text_at("status", "podIP"))
        hosted = is_on_host_network(pod) or pod.name.startswith(HOSTED)
        runs = pod.text_at("status", "phase") == "Running" and not hosted
        if address is not None and runs and address not in hosts:
            by_address.setdefault(address, []).append(pod)
    for address, owners in by_address.items():
        nodes = {pod.text_at("spec", "nodeName") for pod in owners}
        if len(owners) != 2 or "" in nodes:
            continue
        if len(nodes) == 2:
            yield _report(address, owners, sure=_is_sure(case, address, owners))
        elif _is_of_pods(address, owners[0], by_address):
            yield _report(address, owners, sure=True)
        elif all(str(address) in (pod.span.source.command or "") for pod in owners):
            yield _report(address, owners, sure=False)


def _is_of_pods(
    address: Address, pod: ObjectSightings, by_address: Mapping[Address, list[ObjectSightings]]
) -> bool:
    """Tell whether an address is from the range of a node's pods, and not the node's own: the node
    is named by another one, and more of its pods have addresses beside it.
    """
    node = pod.text_at("spec", "nodeName")
    near = Prefix.of(address, WIDTH[address.family] - 8)
    beside = [
        one
        for one, pods in by_address.items()
        if one != address and near.covers(one) and pods[0].text_at("spec", "nodeName") == node
    ]
    return read_address(node) not in {None, address} and len(beside) >= BESIDE


def _addresses_of_nodes(case: Case) -> frozenset[Address]:
    """Return the addresses that are shown to be a node's: by its object, its devices, or the own
    end of a tunnel.
    """
    listed = [read_address(text) for text in sorted(list_addresses(see(case, "Node")))]
    listed += [item.address for item in case.node.host.addresses.items]
    listed += [link.vxlan.local for link in case.node.host.links.items if link.vxlan is not None]
    return frozenset(address for address in listed if address is not None)


def _is_sure(case: Case, address: Address, owners: list[ObjectSightings]) -> bool:
    """Tell whether it is stated that the pods are not on the host's network."""
    if all(is_on_host_network(pod) is False for pod in owners):
        return True
    return any(one.covers(address) for one in list_pod_ranges(case))


def _report(address: Address, owners: list[ObjectSightings], *, sure: bool) -> Finding:
    one, other = owners
    apart = one.text_at("spec", "nodeName") != other.text_at("spec", "nodeName")
    where = "on two nodes" if apart else "of one node"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(f"The pods {one.title} and {other.title} {where} have the same address {address}."),
        evidence=tuple(
            place.line for pod in owners if (place := pod.at("status", "podIP")) is not None
        ),
        reasoning=(
            "Neither pod is on the host's network."
            if sure
            else "If they were on the host's network, their nodes would share the address.",
        ),
        breaks=(f"connections to {address}",),
        prevention="Let only one IPAM plugin assign addresses from a range.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (_ask(owners),),
        marks=(str(address),),
    )


def _ask(owners: list[ObjectSightings]) -> FollowUp:
    pods = " and ".join(pod.title for pod in owners)
    return FollowUp(
        fact=f"whether {pods} are on their nodes' network",
        command="kubectl get pods -A -o yaml; kubectl get nodes -o wide",
        decides=(
            "with hostNetwork: true, the nodes share an address; otherwise two IPAM plugins "
            "assign addresses from one range"
        ),
    )
