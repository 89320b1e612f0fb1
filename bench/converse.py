"""How many conversations a second the model holds with random services of a node, and what one
costs as services multiply.

    python bench/converse.py [--json]

A pod on the node's bridge connects to services of a kube-proxy ruleset with 3 endpoints each; one
conversation is the handshake, data both ways, through every endpoint that the kernel may choose.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.kube_proxy_ruleset import (
    Service,
    generate_ruleset,
    generate_services,
)  # the folder above is only now on the path
from bench.measurement import Measurement, emit  # as above
from podpath.assembly.netfilter.state import assemble_netfilter
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.walk.compiled import Engine
from podpath.evidence.iptables.rules import read_rules
from podpath.library.memory import collecting_seldom
from podpath.net import protocols
from podpath.net.addresses import Address, IfName, Prefix
from podpath.net.probe import Probe
from podpath.net.provenance import Known, Listing, Source
from podpath.node.links import Bridge, BridgePort, InterfaceAddress, Link, Peer
from podpath.node.netfilter import Netfilter
from podpath.node.node import HOST, Netns, NetnsRole, Node
from podpath.node.routing import DEFAULT_RULES, Nexthop, Route

ENDPOINTS = 3
SIZES = (100, 1_000, 10_000)
LEAST_PER_SECOND = 500
PROBES = 1500
"""Connections asked about at each size: few enough that most are of services that none before them
was of.
"""
POD = Address.parse("10.244.250.5")
"""In a network of the node's own, that no endpoint of the ruleset is in."""
SYSCTLS = {
    "net.ipv4.ip_forward": "1",
    "net.ipv4.conf.all.rp_filter": "0",
    "net.bridge.bridge-nf-call-iptables": "1",
}


def build_node(services: int) -> Node:
    """Build a node as flannel's host-gw backend keeps it: pods on a bridge, a route to every other
    node's pods.
    """
    return assemble_node(generate_ruleset(services, ENDPOINTS))


def assemble_node(ruleset: str, pods: Sequence[Address] = (POD,)) -> Node:
    """Build such a node with any ruleset and these pods of its network; the first is named
    `pod`.
    """
    source = Source(
        name="iptables-save.txt", lines=tuple(ruleset.splitlines()), command="iptables-save"
    )
    names = {"pod" if place == 0 else f"pod{place}": own for place, own in enumerate(pods)}
    tables = assemble_netfilter([(source, read_rules(source))]).netfilter[4]
    host = _netns(
        HOST,
        (
            Link(name=IfName("eth0")),
            Link(name=IfName("cni0"), kind="bridge", bridge=Bridge()),
            *(_host_end(name, own) for name, own in names.items()),
        ),
        ("eth0 192.168.0.1/16", "cni0 10.244.250.1/24"),
        (*_other_nodes(), _route("default", "eth0", "192.168.255.254")),
    )  # fmt: skip
    inside = {name: _pod(name, own) for name, own in names.items()}
    return Node(name="bench", namespaces={HOST: replace(host, netfilter={4: tables}), **inside})


def _host_end(name: str, own: Address) -> Link:
    return Link(
        name=_veth(own), kind="veth", peer=Known(Peer(netns=name, link=IfName("eth0"))),
        master=IfName("cni0"), port=BridgePort(hairpin=True),
    )  # fmt: skip


def _pod(name: str, own: Address) -> Netns:
    peer = Known(Peer(netns=HOST, link=_veth(own)))
    links = (Link(name=IfName("eth0"), kind="veth", peer=peer),)
    return _netns(name, links, (f"eth0 {own}/24",), (_route("default", "eth0", "10.244.250.1"),))


def _veth(own: Address) -> IfName:
    return IfName(f"veth{own.value & 0xFF}")


def _other_nodes() -> Iterator[Route]:
    for second in (244, 245):
        for third in range(256):
            if (second, third) != (244, 250):
                yield _route(f"10.{second}.{third}.0/24", "eth0", f"192.168.1.{third}")


def _netns(
    name: str, links: tuple[Link, ...], addresses: tuple[str, ...], routes: tuple[Route, ...]
) -> Netns:
    parsed = []
    for text in addresses:
        link, _, address = text.partition(" ")
        value, _, length = address.partition("/")
        parsed.append(
            InterfaceAddress(link=IfName(link), address=Address.parse(value), length=int(length))
        )
    return Netns(
        name=name,
        role=NetnsRole.HOST if name == HOST else NetnsRole.POD,
        links=Listing(links, True, "ip link"),
        addresses=Listing(tuple(parsed), True, "ip addr"),
        routes=Listing((*routes, *(_connected(item) for item in parsed)), True, "ip route"),
        rules=Listing(DEFAULT_RULES[4], True, "ip rule"),
        sysctls={key: Known(value) for key, value in SYSCTLS.items()},
        sysctls_complete=True,
        netfilter={4: Netfilter(complete=True)},
    )


def _route(prefix: str, link: str, gateway: str) -> Route:
    return Route(
        prefix=Prefix.parse(prefix, 4),
        nexthops=(Nexthop(link=IfName(link), gateway=Address.parse(gateway)),),
    )


def _connected(item: InterfaceAddress) -> Route:
    return Route(
        prefix=item.prefix, nexthops=(Nexthop(link=item.link),), scope="link", prefsrc=item.address
    )


def draw_probes(services: list[Service], count: int) -> list[Probe]:
    """Draw connections of the pod to random services."""
    chance = random.Random(1)  # noqa: S311  # a benchmark's input
    drawn = []
    for _ in range(count):
        service = chance.choice(services)
        protocol = protocols.UDP if service.protocol == "udp" else protocols.TCP
        drawn.append(
            Probe(
                protocol,
                POD,
                Address.parse(service.address),
                chance.randrange(32768, 61000),
                service.port,
                "pod",
            )
        )
    return drawn


def measure_rate(engine: Engine, probes: list[Probe]) -> tuple[float, float]:
    """Return conversations, and the connections walked for them (one for each endpoint), per second
    of CPU time.
    """
    walked, started = 0, time.process_time()
    for probe in probes:
        walked += len(converse(engine, probe).branches)
    spent = time.process_time() - started
    return len(probes) / spent, walked / spent


def measure() -> Iterator[Measurement]:
    """Measure the rate at each size, when a service's rules are met for the first time and when
    they were read before.
    """
    first: dict[str, float] = {}
    for size in SIZES:
        engine = Engine(build_node(size))
        probes = draw_probes(generate_services(size, ENDPOINTS), PROBES)
        for probe in probes[:20]:
            converse(engine, probe)
        for when in ("new", "met before"):
            with collecting_seldom():
                rate, walked = measure_rate(engine, probes)
            name = f"conversations with services {when}, of {size:,}, all endpoints, one core"
            against = f"{SIZES[0]} services"
            bound = LEAST_PER_SECOND if size == SIZES[-1] else None
            yield Measurement(
                name,
                rate,
                "/s",
                bound,
                more_is_better=True,
                against=against,
                other=first.setdefault(when, rate),
            )
            if size == SIZES[-1]:
                name = f"connections walked for them, services {when}, of {size:,}, one core"
                yield Measurement(name, walked, "/s", more_is_better=True)


if __name__ == "__main__":
    emit(measure())
