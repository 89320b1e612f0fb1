"""Cases of which the API says something, beside a node that tests make."""

from __future__ import annotations

from podpath.assembly.case import assemble_case
from podpath.evidence.recognition import read
from podpath.net.provenance import Source
from podpath.node.case import Case
from podpath.node.node import Node


def case_with(node: Node, *objects: str) -> Case:
    """Return the case of a node with objects, each as an item of a YAML list."""
    text = "apiVersion: v1\nkind: List\nitems:\n" + "\n".join(one.strip("\n") for one in objects)
    source = Source(
        name="api.yaml", lines=tuple(text.split("\n")), command="kubectl get -A -o yaml all"
    )
    reading = read(source)
    assert reading is not None
    return Case(node=node, objects=assemble_case([(source, reading)]).objects)


def node_object(name: str, address: str, pods: str, notes: str = "") -> str:
    """Return a Node with its address and range."""
    return (
        f"- kind: Node\n  metadata: {{name: {name}{notes}}}\n  spec: {{podCIDRs: [{pods}]}}\n"
        f"  status: {{addresses: [{{type: InternalIP, address: {address}}}]}}"
    )


def pod_object(name: str, node: str, address: str, more: str = "") -> str:
    """Return a Pod with its node and address."""
    return (
        f"- kind: Pod\n  metadata: {{name: {name}, namespace: shop, labels: {{app: api}}}}\n"
        f"  spec: {{nodeName: {node}, containers: [{{name: {name}}}]{more}}}\n"
        f"  status: {{phase: Running, podIP: {address}}}"
    )
