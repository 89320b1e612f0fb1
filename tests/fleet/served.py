"""Nodes with kube-proxy's rules where some services are unlike the others: pods of the node behind
them, rules about one of their addresses, routes that lead nowhere, entries of conntrack.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from bench.converse import POD, assemble_node
from bench.kube_proxy_ruleset import emit_ruleset, generate_services
from podpath.library.case import Case, NodeCase
from podpath.net.addresses import Address, Prefix
from podpath.net.provenance import Listing
from podpath.node.case import Case as Facts
from podpath.node.netfilter import ConntrackEntry, ConnTuple
from podpath.node.node import HOST, Node
from podpath.node.routing import Nexthop, Route

SERVICES = 24
NEIGHBOR = Address.parse("10.244.250.6")


def make_served_case(seed: int) -> Case:
    """Make a node whose first pod is named `pod`."""
    chance = Random(f"{seed} served")
    services = generate_services(SERVICES, chance.randint(1, 3), seed)
    for place, service in enumerate(services):
        ends = tuple(_move(end, chance) for end in service.endpoints)
        services[place] = service._replace(endpoints=tuple(dict.fromkeys(ends)))
    lines = emit_ruleset(services).splitlines()
    for _ in range(chance.randint(0, 4)):
        service = chance.choice(services)
        endpoint = chance.choice(service.endpoints or ("10.244.0.9:80",)).rpartition(":")[0]
        table, rule = chance.choice(
            (
                ("filter", f"-A FORWARD -d {endpoint}/32 -j DROP"),
                ("filter", f"-A FORWARD -s {endpoint}/32 -j DROP"),
                ("filter", f"-A FORWARD -d {_network(endpoint)} -j REJECT"),
                ("filter", f"-A FORWARD -p tcp -m tcp --dport {chance.choice((80, 8080))} -j DROP"),
                ("mangle", f"-A PREROUTING -d {service.address}/32 -j DROP"),
                ("mangle", f"-A FORWARD -d {endpoint}/32 -j DROP"),
                ("nat", f"-A KUBE-SERVICES -d {service.address}/32 -j RETURN"),
                (
                    "nat",
                    f"-A PREROUTING {_match_services(443)} -j DNAT --to-destination {endpoint}",
                ),
                ("nat", "-A KUBE-SERVICES -p tcp -m tcp --dport 443 -j KUBE-MARK-MASQ"),
            )
        )
        lines = insert(lines, table, rule, chance)
    pods = (POD, NEIGHBOR) if chance.random() < 0.7 else (POD,)
    node = assemble_node("\n".join(lines), pods)
    return Case(nodes=(NodeCase(name="", facts=Facts(node=_disturb(node, chance))),))


def _move(end: str, chance: Random) -> str:
    """Put an endpoint somewhere else, at times onto the node itself."""
    address, _, port = end.rpartition(":")
    places = (str(POD), str(NEIGHBOR), "192.168.7.7", "10.245.3.3", "198.51.100.9")
    if chance.random() < 0.25:
        address = chance.choice(places)
    return f"{address}:{port}"


def _network(address: str) -> str:
    return f"{address.rpartition('.')[0]}.0/24"


def _match_services(port: int) -> str:
    return f"-d 10.96.0.0/16 -p tcp -m tcp --dport {port}"


def insert(lines: list[str], table: str, rule: str, chance: Random) -> list[str]:
    """Put a rule somewhere between the rules of its table."""
    start = lines.index(f"*{table}")
    end = lines.index("COMMIT", start)
    places = [place for place in range(start + 1, end) if lines[place].startswith("-A")]
    place = chance.choice(places or [end])
    return [*lines[:place], rule, *lines[place:]]


def _disturb(node: Node, chance: Random) -> Node:
    host = node.host
    if chance.random() < 0.5:
        lost = Route(prefix=Prefix.parse(f"10.244.0.{chance.choice((0, 16, 32))}/28"), nexthops=(),
                     type=chance.choice(("blackhole", "unreachable")))  # fmt: skip
        host = replace(host, routes=Listing((*host.routes.items, lost), True, "ip route"))
    if chance.random() < 0.3:
        there = Nexthop(link=host.links.items[0].name, gateway=None)
        near = Route(prefix=Prefix.parse("10.244.0.8/29"), nexthops=(there,), scope="link")
        host = replace(host, routes=Listing((*host.routes.items, near), True, "ip route"))
    if chance.random() < 0.5:
        server = Address.parse(f"10.96.0.{chance.randrange(SERVICES)}")
        asked = ConnTuple(POD, server, 6, 40000, 80)
        told = ConnTuple(Address.parse("10.244.0.77"), POD, 6, 80, 40000)
        entry = ConntrackEntry(asked, told, "ESTABLISHED", assured=True, replied=True)
        host = replace(host, conntrack=Listing((entry,), True, "conntrack -L -o extended,id"))
    return replace(node, namespaces={**node.namespaces, HOST: host})
