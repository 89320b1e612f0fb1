"""Objects with an address, said as the records that walks are made of: services, and pods with
their node.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.evidence.attempts.failures import parse_host
from podpath.evidence.kubernetes.records import (
    ApiObjectRecord,
    PodRecord,
    ServicePortRecord,
    ServiceRecord,
)
from podpath.evidence.kubernetes.service import NOT_LISTED
from podpath.evidence.records import Record
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.trees import Tree


def services_and_pods(record: ApiObjectRecord) -> Iterator[Record]:
    """Yield the Service or pod that an object is; nothing for an object of another kind, or one
    without a name.
    """
    if record.kind == "Service" and record.name and record.tree.at("spec") is not None:
        yield _service(record)
    elif record.kind == "Pod" and record.name and record.tree.text_at("status", "podIP"):
        yield _pod(record)


def _service(record: ApiObjectRecord) -> ServiceRecord:
    spec = record.tree.at("spec") or record.tree
    words = [
        spec.text_at("clusterIP"),
        *(item.text for item in spec.items_at("clusterIPs")),
        *(item.text for item in spec.items_at("externalIPs")),
    ]
    words += [
        item.text_at("ip") for item in record.tree.items_at("status", "loadBalancer", "ingress")
    ]
    addresses: dict[Address, None] = {}
    for word in words:
        address = parse_host(word)
        if address is not None:
            addresses[address] = None
    return ServiceRecord(
        span=record.span,
        namespace=record.namespace or None,
        name=record.name,
        type=spec.text_at("type") or None,
        addresses=tuple(addresses),
        ports=tuple(_ports(spec)),
    )


def _ports(spec: Tree) -> Iterator[ServicePortRecord]:
    for port in spec.items_at("ports"):
        number = read_port(port.text_at("port"))
        if number is None:
            continue
        try:
            protocol = protocols.protocol_number(port.text_at("protocol") or "TCP")
        except ValueError:
            continue
        target = port.text_at("targetPort") or None
        yield ServicePortRecord(
            port.text_at("name") or None,
            protocol,
            number,
            target,
            read_port(port.text_at("nodePort")),
            (),
            NOT_LISTED,
        )


def _pod(record: ApiObjectRecord) -> PodRecord:
    tree = record.tree
    return PodRecord(
        span=record.span,
        namespace=record.namespace or None,
        name=record.name,
        address=parse_host(tree.text_at("status", "podIP")),
        node=tree.text_at("spec", "nodeName") or None,
        node_address=parse_host(tree.text_at("status", "hostIP")),
    )


def read_port(text: str) -> int | None:
    """Read a port's number; None for a name and for what is no port."""
    return (
        int(text)
        if text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) <= 65535
        else None
    )
