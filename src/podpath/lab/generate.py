"""Random nodes and probes over what the datapath models: each case is made from one number, and only from it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from podpath.lab.draft import DraftNetns
from podpath.lab.generate_rules import VIP, draw_fields, draw_table, make_rule, make_sets
from podpath.lab.topologies import TOPOLOGIES, Topology
from podpath.net import protocols
from podpath.net.addresses import Address, IfName, MaskedMark, PortRange, Prefix
from podpath.net.probe import Probe
from podpath.node.netfilter import MatchOption, PrefixMatch, ProtocolMatch, Target
from podpath.node.node import HOST, Node
from podpath.node.routing import Nexthop, PolicyRule, Route

PORTS = (80, 8080)
CHOSEN_PORTS = range(50000, 50011)
"""A range that SNAT rules translate into: which of them it is, the kernel chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedCase:
    """One case of kernel agreement."""

    seed: int
    topology: str
    node: Node
    probe: Probe
    nat: bool
    """True where some NAT rule was drawn."""
    fault: str
    """The fault that was put in; empty where none was."""


def generate_case(seed: int, kernel: str | None = None) -> GeneratedCase:
    """Draw one node and one probe; `kernel` (`uname -r`) decides how its drop reasons are called, and nothing else."""
    chance = Random(seed)
    topology = chance.choice(TOPOLOGIES)()
    probe = _draw_probe(chance, topology)
    host = topology.draft.namespaces[HOST]
    host.sets = make_sets(sorted({address for _, address in topology.speakers}))
    _draw_sysctls(chance, topology)
    _draw_routing(chance, host, topology)
    nat = chance.random() < 0.6
    flavour = chance.choice(("nft", "legacy"))
    if nat:
        probe = _draw_nat(chance, host, topology, probe, flavour)
    for name in ("raw", "mangle", "filter", "security"):
        if chance.random() < {"raw": 0.3, "mangle": 0.4, "filter": 0.8, "security": 0.1}[name]:
            draw_table(chance, host, topology, name, flavour if chance.random() < 0.8 else chance.choice(("nft", "legacy")))
    fault = _draw_fault(chance, host) if chance.random() < 0.3 else ""
    return GeneratedCase(
        seed=seed, topology=topology.name, node=topology.draft.freeze(kernel), probe=probe, nat=nat, fault=fault
    )  # fmt: skip


def _draw_probe(chance: Random, topology: Topology) -> Probe:
    netns, source = chance.choice(topology.speakers)
    others = [address for name, address in topology.speakers if name != netns]
    destination = chance.choice(others)
    protocol = chance.choice((protocols.TCP,) * 3 + (protocols.UDP, protocols.ICMP))
    port = 0 if protocol == protocols.ICMP else chance.choice(PORTS)
    return Probe(protocol, source, destination, chance.randrange(30000, 60000), port, netns)


def _draw_sysctls(chance: Random, topology: Topology) -> None:
    sysctls = topology.draft.namespaces[HOST].sysctls
    for scope in ("all", "default"):
        sysctls[f"net.ipv4.conf.{scope}.rp_filter"] = chance.choice("0012")
    if "net.bridge.bridge-nf-call-iptables" in sysctls:
        sysctls["net.bridge.bridge-nf-call-iptables"] = chance.choice("1110")
    for scope in ("all", "default", *topology.devices):
        sysctls[f"net.ipv4.conf.{scope}.send_redirects"] = "0"  # a redirect is noted on the way, not walked
    for device in topology.devices:
        if chance.random() < 0.3:
            sysctls[f"net.ipv4.conf.{device}.rp_filter"] = chance.choice("012")
    keys = ("accept_local", "route_localnet", "src_valid_mark", "arp_ignore", "arp_announce", "arp_filter")
    for key in keys:
        if chance.random() < 0.1:
            scope = chance.choice(("all", *topology.devices))
            sysctls[f"net.ipv4.conf.{scope}.{key}"] = (
                chance.choice("12") if key.startswith("arp_") and key != "arp_filter" else "1"
            )
    for key, values in (("nf_conntrack_tcp_loose", "01"), ("nf_conntrack_tcp_be_liberal", "01")):
        if chance.random() < 0.1:
            sysctls[f"net.netfilter.{key}"] = chance.choice(values)


def _draw_routing(chance: Random, host: DraftNetns, topology: Topology) -> None:
    addresses = [address for _, address in topology.speakers]
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        prefix = Prefix.of(chance.choice(addresses), chance.choice((16, 24, 32)))
        kind = chance.choice(("blackhole", "unreachable", "prohibit", "throw", "unicast", "unicast"))
        table = chance.choice((254, 100, 101))
        hops = (Nexthop(link=IfName(chance.choice(topology.devices))),) if kind == "unicast" else ()
        route = Route(prefix=prefix, type=kind, nexthops=hops, table=table, metric=chance.choice((5, 50)),
                      scope="link" if kind == "unicast" else "global")  # fmt: skip
        if all((other.prefix, other.metric, other.table, other.tos) != (prefix, route.metric, table, 0) for other in host.routes):
            host.routes.append(route)
    for _ in range(chance.choice((0, 0, 1, 2))):
        host.rules.append(_draw_policymake_rule(chance, topology, addresses, {rule.priority for rule in host.rules}))


def _draw_policymake_rule(chance: Random, topology: Topology, addresses: list[Address], used: set[int]) -> PolicyRule:
    selector = chance.choice(("from", "to", "iif", "fwmark", "ipproto", "dport", "all", "oif"))
    priority = chance.choice([number for number in range(100, 140) if number not in used])
    length = chance.choice((16, 24, 32))
    action = chance.choice(("lookup",) * 6 + ("unreachable", "blackhole", "prohibit"))
    return PolicyRule(
        family=4, priority=priority, negated=chance.random() < 0.15 and selector != "all", action=action,
        table=chance.choice((100, 101, 254)),
        src=Prefix.of(chance.choice(addresses), length) if selector == "from" else None,
        dst=Prefix.of(chance.choice(addresses), length) if selector == "to" else None,
        iif=IfName(chance.choice((*topology.devices, "lo"))) if selector == "iif" else None,
        oif=IfName(chance.choice(topology.devices)) if selector == "oif" else None,
        mark=_draw_masked_mark(chance) if selector == "fwmark" else None,
        protocol=chance.choice((protocols.TCP, protocols.UDP, protocols.ICMP)) if selector == "ipproto" else
        protocols.TCP if selector == "dport" else None,
        dport=None if selector != "dport" else _port_range(chance),
        suppress_prefixlength=0 if action == "lookup" and chance.random() < 0.2 else None,
    )  # fmt: skip


def _draw_masked_mark(chance: Random) -> MaskedMark:
    return MaskedMark(chance.choice((1, 2, 0x4000)), chance.choice((0xFF, 0x4000, 0xFFFFFFFF)))


def _port_range(chance: Random) -> PortRange:
    first = chance.choice(PORTS)
    return PortRange(first, chance.choice((first, first + 10)))


def _draw_nat(chance: Random, host: DraftNetns, topology: Topology, probe: Probe, flavour: str) -> Probe:
    table = host.table("nat", flavour)
    targets = [address for name, address in topology.speakers if name != probe.netns or chance.random() < 0.2]
    asked = probe
    if probe.protocol != protocols.ICMP and chance.random() < 0.6:
        asked = probe._replace(dst=VIP)
        endpoint = chance.choice(targets)
        port = chance.choice(PORTS)
        target = Target("DNAT", (MatchOption("to-destination", (f"{endpoint}:{port}",)),))
        rule = make_rule(target, dst=PrefixMatch(Prefix.of(VIP)), protocol=ProtocolMatch(probe.protocol))
        for chain in ("PREROUTING", "OUTPUT"):
            table.chains[chain].append(rule)
        if probe.netns != HOST:
            topology.draft.namespaces[probe.netns or HOST].add_route(str(VIP), *_first_hop(topology, probe.netns or HOST))
    if chance.random() < 0.6:
        fields = {} if chance.random() < 0.4 else draw_fields(chance, topology, protocols.TCP, "POSTROUTING")
        target = _draw_source_nat(chance, fields)
        table.chains["POSTROUTING"].append(make_rule(target, **fields))
    if chance.random() < 0.15 and probe.protocol != protocols.ICMP:
        options = (MatchOption("to-ports", (str(chance.choice(PORTS)),)),)
        table.chains["PREROUTING"].insert(0, make_rule(Target("REDIRECT", options), protocol=ProtocolMatch(probe.protocol)))
    return asked


def _first_hop(topology: Topology, netns: str) -> tuple[str | None, str | None]:
    draft = topology.draft.namespaces[netns]
    default = [route for route in draft.routes if route.prefix.length == 0 and route.nexthops]
    if default:
        hop = default[0].nexthops[0]
        return hop.link, str(hop.gateway)
    return "eth0", "192.0.2.10" if netns == "world2" else "172.31.0.10"


def _draw_source_nat(chance: Random, fields: dict[str, object]) -> Target:
    if chance.random() < 0.6:
        return Target("MASQUERADE")
    sources = ["172.31.0.10", "10.1.9.9"]
    if fields.get("protocol") == ProtocolMatch(protocols.TCP):
        sources.append(f"172.31.0.10:{CHOSEN_PORTS.start}-{CHOSEN_PORTS.stop - 1}")
    return Target("SNAT", (MatchOption("to-source", (chance.choice(sources),)),))


def _draw_fault(chance: Random, host: DraftNetns) -> str:
    kind = chance.choice(("ip_forward off", "rp_filter strict", "no route", "policy drop"))
    if kind == "ip_forward off":
        host.sysctls["net.ipv4.ip_forward"] = "0"
    elif kind == "rp_filter strict":
        host.sysctls["net.ipv4.conf.all.rp_filter"] = "1"
    elif kind == "no route":
        host.routes = [route for route in host.routes if route.prefix.length != 0 or route.table != 254]
    else:
        host.table("filter", "nft").policies["FORWARD"] = "DROP"
    return kind
