"""node-address-twice: two nodes have the same address, or tunnels are given a wrong one.

What it is
    Each node should have its own InternalIP, at which the others reach it. Flannel and Calico
    record the address that they detected themselves (flannel.alpha.coreos.com/public-ip,
    projectcalico.org/IPv4Address). With Vagrant, VirtualBox and clouds with a NAT interface, every
    machine's first interface has 10.0.2.15, and that is the address they record.

Why it breaks
    Tunnels to a node end at an address that is not the node's, or is the sender's own: pods on one
    node reach each other, but nothing works across nodes; kubectl logs and exec fail too.

How to confirm
    kubectl get nodes -o wide; kubectl get nodes -o yaml | grep -E 'public-ip|IPv4Address'

How to fix
    Set the kubelet's --node-ip and flannel's --iface (Calico: IP_AUTODETECTION_METHOD) to the
    interface that connects the nodes.

References
    flannel's troubleshooting page, section Vagrant; Calico's on autodetection
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, is_on_host_network, see
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (
    Category.TUNNEL_ENDPOINT,
    Category.DUPLICATE_ADDRESS,
)
NAME = "node-address-twice"
ANNOTATIONS = (
    "flannel.alpha.coreos.com/public-ip",
    "projectcalico.org/IPv4Address",
    "projectcalico.org/IPv4IPIPTunnelAddr",
)
CHOSEN = ANNOTATIONS[:2]
"""Addresses that a plugin chose for the outer packets."""
HOSTED = ("kube-proxy-", "kube-apiserver-", "etcd-", "calico-node-", "kube-flannel-ds-")
"""How names of pods begin that run on their host's network."""
BY_PODS = 0.8
"""A pod of a node that is gone may still be listed as running."""


def check(case: Case) -> Iterator[Finding]:
    """Report addresses that two nodes have, and those of tunnels that are none of the node's
    own.
    """
    nodes = see(case, "Node")
    yield from _twice(
        [
            (node, item.at("address"))
            for node in nodes
            for item in node.items_at("status", "addresses")[:1]
            if item.text_at("type") == "InternalIP"
        ]
    )
    for name in ANNOTATIONS:
        yield from _twice([(node, node.at("metadata", "annotations", name)) for node in nodes])
    for finding in _twice(list(_list_by_pods(case))):
        yield replace(finding, certainty=BY_PODS)
    for node in nodes:
        own = {
            item.text_at("address")
            for item in node.items_at("status", "addresses")
            if item.text_at("type") == "InternalIP"
        }
        for name in CHOSEN:
            told = node.at("metadata", "annotations", name)
            if told is not None and own and told.text.partition("/")[0] not in own:
                yield _report_other(node, told, name, own)


def _list_by_pods(case: Case) -> Iterator[tuple[ObjectSightings, Tree | None]]:
    """Yield the address that each node's pods on the host's network show, where nothing else tells
    it: such pods have their node's.
    """
    seen: set[str] = set()
    for pod in see(case, "Pod"):
        node = pod.text_at("spec", "nodeName")
        hosted = pod.name.startswith(HOSTED) or is_on_host_network(pod)
        if hosted and node and node not in seen and pod.text_at("status", "phase") == "Running":
            seen.add(node)
            sights = ObjectSightings("Node", "", node, pod.sights)
            yield sights, pod.at("status", "podIP")


def _twice(told: list[tuple[ObjectSightings, Tree | None]]) -> Iterator[Finding]:
    first: dict[str, tuple[ObjectSightings, Tree]] = {}
    for node, place in told:
        text = "" if place is None else place.text.partition("/")[0]
        if place is None or not text:
            continue
        known = first.setdefault(text, (node, place))
        if known[0] is not node:
            yield _report_same(known[0], node, text, (known[1], place))


def _report_same(
    one: ObjectSightings, other: ObjectSightings, address: str, places: tuple[Tree, Tree]
) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The nodes {one.name} and {other.name} have the same address {address}.",
        evidence=tuple(place.line for place in places),
        reasoning=(
            "A host that sends to one of them at this address reaches the other, or itself.",
        ),
        breaks=(f"traffic between pods of {one.name} and {other.name}",),
        prevention=(
            "Tell the kubelet and the plugin which interface connects the nodes if a machine has "
            "more than one."
        ),
        marks=(address,),
    )


def _report_other(node: ObjectSightings, told: Tree, name: str, own: set[str]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"On node {node.name}, {name} is {told.text}, which is not its InternalIP "
            f"{', '.join(sorted(own))}."
        ),
        evidence=(told.line,),
        reasoning=("Other nodes send tunnel packets to the address in the annotation.",),
        breaks=(f"connections to pods of {node.name} from nodes that cannot reach that address",),
        prevention="Tell the kubelet and the plugin which interface connects the nodes.",
        certainty=0.7,
        marks=(told.text,),
    )
