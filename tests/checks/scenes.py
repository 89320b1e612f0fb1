"""Nodes and cases with one fault, and how to run one check on them."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.finding import Finding
from podpath.checks.registry import find_check
from podpath.net import protocols
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from podpath.net.provenance import Listing
from podpath.node.case import ArpOperation, ArpSighting, Case, Sighting
from podpath.node.netfilter import ConntrackEntry, ConnTuple
from podpath.node.node import Node, Service, ServicePort
from tests.checks.nodes import address, link, netns, node, route, span

HOST_MAC, SLAVE_MAC, PEER_MAC = (
    Mac("02:00:00:00:00:01"),
    Mac("02:00:00:00:00:99"),
    Mac("02:00:00:00:00:77"),
)


def findings(case: Case | Node, check: str) -> list[Finding]:
    """Run one check by its name."""
    found = find_check(check)
    assert found is not None
    assert found.run is not None
    return list(found.run(case if isinstance(case, Case) else Case(node=case)))


def bonded(metric: int) -> Node:
    """Make a host whose slave p1p1 has a route to 169.254.0.0/16 of that metric beside the bond's
    of 1007.
    """
    host = netns(
        links=[
            link("p1p1", master="bond7", mac=SLAVE_MAC),
            link("bond7", kind="bond", mac=HOST_MAC),
        ],
        addresses=[address("bond7", "10.6.1.9")],
        routes=[route("169.254.0.0/16", "p1p1", metric), route("169.254.0.0/16", "bond7", 1007)],
    )
    return node(host)


def foreign_arp() -> Case:
    """Make a capture in which an ARP request with the slave's MAC makes inbound frames go astray
    for 29 s.
    """
    host, peer = Address.parse("10.6.1.9"), Address.parse("10.6.1.4")

    def frame(source: Address, target: Address, smac: Mac, dmac: Mac, time: float) -> Sighting:
        packet = Packet(source, target, protocols.TCP, smac=smac, dmac=dmac)
        return Sighting(packet=packet, span=span(f"{time} {smac} > {dmac}"), time=time)

    def arp(mac: Mac, target: str, time: float) -> ArpSighting:
        text = f"{time} {mac} who-has {target} tell {host}"
        return ArpSighting(
            operation=ArpOperation.REQUEST,
            sender=host,
            target=Address.parse(target),
            sender_mac=mac,
            target_mac=None,
            span=span(text),
            time=time,
        )

    return Case(
        node=bonded(1002),
        sightings=(
            frame(host, peer, HOST_MAC, PEER_MAC, 1.0),
            frame(peer, host, PEER_MAC, HOST_MAC, 1.1),
            frame(host, peer, HOST_MAC, PEER_MAC, 3.0),
            frame(peer, host, PEER_MAC, SLAVE_MAC, 3.1),
        ),
        arps=(arp(SLAVE_MAC, "169.254.169.254", 2.0), arp(HOST_MAC, "10.6.1.4", 31.0)),
    )


def described(*endpoints: tuple[Address, int], complete: bool = True) -> Service:
    """Make a service of 10.96.0.10:53 with these endpoints."""
    port = ServicePort(protocol=protocols.UDP, port=53, endpoints=endpoints, complete=complete)
    return Service(
        namespace="ns",
        name="dns",
        type="ClusterIP",
        addresses=(Address.parse("10.96.0.10"),),
        ports=(port,),
        span=span("Name: dns"),
    )


def tracked(endpoint: str) -> Node:
    """Make a conntrack entry that sends a DNS client to that endpoint, while 10.0.0.7 is the
    service's only one.
    """
    client, service, target = (
        Address.parse("10.0.1.5"),
        Address.parse("10.96.0.10"),
        Address.parse(endpoint),
    )
    entry = ConntrackEntry(
        original=ConnTuple(client, service, protocols.UDP, 4000, 53),
        reply=ConnTuple(target, client, protocols.UDP, 53, 4000),
        span=span(f"udp src={client} dst={service} [UNREPLIED] src={endpoint}"),
    )
    host = replace(netns(), conntrack=Listing((entry,), True, ""))
    return replace(node(host), services=(described((Address.parse("10.0.0.7"), 53)),))
