"""Random NAT: services, masquerading, and every target that translates."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from podpath.net import protocols
from podpath.net.addresses import Address, Prefix
from podpath.net.probe import Probe
from podpath.node.netfilter import Match, MatchOption, PrefixMatch, ProtocolMatch, Rule, Target
from podpath.node.node import HOST
from podpath_lab.cases.routing import PORTS
from podpath_lab.cases.rules import VIP, draw_fields, make_rule
from podpath_lab.draft import DraftNetns, DraftTable
from podpath_lab.topologies import Topology

CHOSEN_PORTS = range(50000, 50011)
"""A range that SNAT rules translate into: which of them it is, the kernel chooses."""


def draw_nat(
    chance: Random, host: DraftNetns, topology: Topology, probe: Probe, flavour: str
) -> Probe:
    """Draw a service, source NAT and a redirection; the probe asks for the service where there is
    one.
    """
    table = host.table("nat", flavour)
    targets = [
        address
        for name, address in topology.speakers
        if name != probe.netns or chance.random() < 0.2
    ]
    asked = probe
    if probe.protocol != protocols.ICMP and chance.random() < 0.65:
        asked = probe._replace(
            dst=_draw_service(chance, table, chance.sample(targets, min(2, len(targets))), probe)
        )
        if probe.netns != HOST:
            topology.draft.namespaces[probe.netns or HOST].add_route(
                str(asked.dst), *_first_hop(topology, probe.netns or HOST)
            )
    if chance.random() < 0.6:
        if chance.random() < 0.4:
            fields = {}
        else:
            fields = draw_fields(chance, topology, protocols.TCP, "POSTROUTING")
        table.chains["POSTROUTING"].append(make_rule(_draw_source_nat(chance, fields), **fields))
    if chance.random() < 0.15:
        _draw_preferred_source(chance, host, table)
    if chance.random() < 0.15 and probe.protocol != protocols.ICMP:
        ports = chance.choice(("80", "8080", "80-81", "8080-8090", ""))
        options = (MatchOption("to-ports", (ports,)),) if ports else ()
        redirect = make_rule(Target("REDIRECT", options), protocol=ProtocolMatch(probe.protocol))
        table.chains[chance.choice(("PREROUTING", "PREROUTING", "OUTPUT"))].insert(0, redirect)
    return asked


def _draw_preferred_source(chance: Random, host: DraftNetns, table: DraftTable) -> None:
    """Give a route a source of its own and masquerade what takes it: which source wins is what this
    is about.
    """
    own = [item.address for item in host.addresses]
    ways = [
        index
        for index, route in enumerate(host.routes)
        if route.type == "unicast" and len(route.nexthops) == 1
    ]
    if ways:
        index = chance.choice(ways)
        host.routes[index] = replace(host.routes[index], prefsrc=chance.choice(own))
        table.chains["POSTROUTING"].insert(0, make_rule(Target("MASQUERADE")))


def _draw_service(
    chance: Random, table: DraftTable, endpoints: list[Address], probe: Probe
) -> Address:
    """Write the rules of a service, as kube-proxy, Docker or an administrator would; give the
    address to ask for.
    """
    vip = VIP
    if chance.random() < 0.15:
        vip = Address(4, VIP.value & ~0xFF | endpoints[0].value & 0xFF)
        networks = Prefix.of(vip, 24), Prefix.of(endpoints[0], 24)
        target = Target("NETMAP", (MatchOption("to", (f"{networks[1].address}/24",)),))
        rules = [make_rule(target, dst=PrefixMatch(networks[0]))]
    else:
        rules = _draw_endpoints(chance, endpoints, probe)
        if chance.random() < 0.4:
            table.chains["KUBE-SVC-X"] = rules
            rules = [
                make_rule(
                    Target("KUBE-SVC-X"),
                    dst=PrefixMatch(Prefix.of(vip)),
                    protocol=ProtocolMatch(probe.protocol),
                )
            ]
        else:
            rules = [rule._replace(dst=PrefixMatch(Prefix.of(vip))) for rule in rules]
    for chain in ("PREROUTING", "OUTPUT"):
        table.chains[chain] += rules
    return vip


def _draw_endpoints(chance: Random, endpoints: list[Address], probe: Probe) -> list[Rule]:
    protocol, port = ProtocolMatch(probe.protocol), chance.choice(PORTS)
    last = endpoints[0]
    to = chance.choice(
        (f"{last}:{port}",) * 5
        + (f"{last}:{port}-{port + 5}", f"{last}", f"{last}-{Address(4, last.value + 1)}")
    )
    rules = [make_rule(_dnat(to), protocol=protocol)]
    if len(endpoints) > 1 and chance.random() < 0.3:
        mode = MatchOption("mode", (chance.choice(("random", "nth")),))
        share = [MatchOption("probability", ("0.50000000000",))]
        if mode.values == ("nth",):
            share = [MatchOption("every", ("2",)), MatchOption("packet", ("0",))]
        match = Match("statistic", (mode, *share))
        rules.insert(
            0, make_rule(_dnat(f"{endpoints[1]}:{port}"), protocol=protocol, matches=(match,))
        )
    return rules


def _dnat(to: str) -> Target:
    return Target("DNAT", (MatchOption("to-destination", (to,)),))


def _first_hop(topology: Topology, netns: str) -> tuple[str | None, str | None]:
    draft = topology.draft.namespaces[netns]
    default = [route for route in draft.routes if route.prefix.length == 0 and route.nexthops]
    if default:
        hop = default[0].nexthops[0]
        return hop.link, str(hop.gateway)
    return "eth0", "192.0.2.10" if netns == "world2" else "172.31.0.10"


def _draw_source_nat(chance: Random, fields: dict[str, object]) -> Target:
    ported = fields.get("protocol") == ProtocolMatch(protocols.TCP)
    ports = f"{CHOSEN_PORTS.start}-{CHOSEN_PORTS.stop - 1}"
    if chance.random() < 0.6:
        options = (MatchOption("to-ports", (ports,)),) if ported and chance.random() < 0.3 else ()
        return Target("MASQUERADE", options)
    sources = ["172.31.0.10", "10.1.9.9", "172.31.0.10-172.31.0.12"]
    if ported:
        sources.append(f"172.31.0.10:{ports}")
    return Target("SNAT", (MatchOption("to-source", (chance.choice(sources),)),))
