"""Services as Cilium's load balancer sees them: those that the evidence describes."""

from __future__ import annotations

from collections.abc import Iterator

from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Option
from podpath.node.node import Frontend, Node, Service, ServicePort


def _ports(node: Node, packet: Packet) -> Iterator[tuple[Service, ServicePort]]:
    for service in node.services:
        for port in service.ports:
            if port.protocol == packet.protocol:
                yield service, port


_ANY = Address(4, 0)
PLAIN = frozenset(
    {"ClusterIP", "NodePort", "LoadBalancer", "ExternalIPs", "HostPort", "non-routable",
     "sessionAffinity"}
)  # fmt: skip
"""What a frontend of the maps may be for its way to be known: others have a proxy, or a policy
of their own.
"""


def shows_maps(walk: Walk) -> bool:
    """Tell whether the evidence shows the load balancer's maps whole: a service that is not among
    them is none.
    """
    cilium = walk.engine.node.cilium
    return cilium is not None and bool(cilium.frontends)


def find_frontend(walk: Walk, packet: Packet) -> Frontend | None:
    """Return what Cilium's maps hold of a packet's destination; None where they hold nothing. A
    node port counts on loopback, too, by its entry for any address
    (bpf/bpf_sock.c:sock4_wildcard_lookup).
    """
    cilium = walk.engine.node.cilium
    if cilium is None or not packet.has_ports:
        return None
    address = _ANY if packet.dst.family == 4 and packet.dst.is_loopback else packet.dst
    for protocol in (packet.protocol, 0):
        found = cilium.frontends.get((address, packet.dport, protocol))
        if found is not None:
            return found
    return None


def choose_backend(walk: Walk, packet: Packet, frontend: Frontend) -> tuple[Address, int]:
    """Return the backend that a packet goes to, at random."""
    options = tuple(
        Option(item, f"backend {item[0]}:{item[1]}", span)
        for item, span in zip(frontend.backends, frontend.spans[1:], strict=False)
    )
    key = f"backend of {packet.dst}:{packet.dport} for {packet.src}:{packet.sport}"
    return walk.choices.choose(key, options, random=True)


def choose_endpoint(walk: Walk, packet: Packet) -> tuple[Address, int] | None:
    """Return the endpoint that a packet to a service goes to, at random among those known; None
    where it is for no service.
    """
    for service, port in _ports(walk.engine.node, packet):
        if packet.dst in service.addresses and packet.dport == port.port and port.endpoints:
            options = tuple(
                Option(item, f"endpoint {item[0]}:{item[1]}") for item in port.endpoints
            )
            key = f"endpoint of {service.namespace}/{service.name} for {packet.src}:{packet.sport}"
            return walk.choices.choose(key, options, random=True)
    return None


def is_service(node: Node, packet: Packet, namespace: Namespace) -> bool:
    """Tell whether a packet from outside is for a service: its address, or a node port on one of
    the host's.
    """
    for service, port in _ports(node, packet):
        if packet.dst in service.addresses and packet.dport == port.port:
            return True
        if packet.dport == port.node_port and namespace.owns(packet.dst):
            return True
    return False
