"""Random routing: sysctls, addresses, routes of every type, multipath, and policy rules with every
selector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from podpath.net import protocols
from podpath.net.addresses import Address, IfName, MaskedMark, PortRange, Prefix
from podpath.node.node import HOST
from podpath.node.routing import Nexthop, PolicyRule, Route
from podpath_lab.draft import DraftNetns
from podpath_lab.topologies import Topology

PORTS = (80, 8080)
"""Ports that every namespace listens on."""


def draw_sysctls(chance: Random, topology: Topology) -> None:
    """Draw the host's sysctls, in combinations of all, default and the device's own."""
    sysctls = topology.draft.namespaces[HOST].sysctls
    for scope in ("all", "default"):
        sysctls[f"net.ipv4.conf.{scope}.rp_filter"] = chance.choice("0012")
    if "net.bridge.bridge-nf-call-iptables" in sysctls:
        sysctls["net.bridge.bridge-nf-call-iptables"] = chance.choice("1110")
    for scope in ("all", "default", *topology.devices):
        sysctls[f"net.ipv4.conf.{scope}.send_redirects"] = (
            "0"  # a redirect is noted on the way, not walked
        )
    for device in topology.devices:
        if chance.random() < 0.3:
            sysctls[f"net.ipv4.conf.{device}.rp_filter"] = chance.choice("012")
        if chance.random() < 0.05:
            sysctls[f"net.ipv4.conf.{device}.forwarding"] = chance.choice("01")
    keys = (
        "accept_local",
        "route_localnet",
        "src_valid_mark",
        "arp_ignore",
        "arp_announce",
        "arp_filter",
    )
    for key in keys:
        if chance.random() < 0.1:
            scope = chance.choice(("all", *topology.devices))
            sysctls[f"net.ipv4.conf.{scope}.{key}"] = (
                chance.choice("12") if key.startswith("arp_") and key != "arp_filter" else "1"
            )
    for key, values in (("nf_conntrack_tcp_loose", "01"), ("nf_conntrack_tcp_be_liberal", "01")):
        if chance.random() < 0.1:
            sysctls[f"net.netfilter.{key}"] = chance.choice(values)


def draw_addresses(chance: Random, topology: Topology) -> Topology:
    """Return the host more addresses, of a subnet that it has (secondary ones) and of its own, to
    speak from and to.
    """
    host = topology.draft.namespaces[HOST]
    speakers = list(topology.speakers)
    for link, text in (
        ("eth0", "172.31.0.11/24"),
        ("eth0", "10.77.0.1/24"),
        (topology.devices[0], "10.1.0.250/24"),
    ):
        if chance.random() < 0.12:
            host.add_address(link, text)
            speakers.append((HOST, Address.parse(text.partition("/")[0])))
    return replace(topology, speakers=tuple(speakers))


def draw_routing(chance: Random, host: DraftNetns, topology: Topology) -> None:
    """Draw routes and policy rules of the host."""
    addresses = [address for _, address in topology.speakers]
    connected = {(item.prefix, 0, 254, 0) for item in host.addresses}
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        route = _draw_route(chance, host, topology, addresses)
        key = (route.prefix, route.metric, route.table, route.tos)
        if key not in connected and all(
            (other.prefix, other.metric, other.table, other.tos) != key for other in host.routes
        ):
            host.routes.append(route)
    if chance.random() < 0.12:
        _draw_rivals(chance, host, topology, addresses)
    for _ in range(chance.choice((0, 0, 1, 2, 3))):
        host.rules.append(
            _draw_policy_rule(chance, topology, addresses, {rule.priority for rule in host.rules})
        )


def _draw_rivals(
    chance: Random, host: DraftNetns, topology: Topology, addresses: list[Address]
) -> None:
    """Draw two routes for one prefix that only their metric tells apart, the worse one first."""
    prefix = Prefix.of(chance.choice(addresses))
    for metric in (70, 60):
        route = _draw_route(chance, host, topology, addresses)
        host.routes.append(replace(route, prefix=prefix, table=254, metric=metric, tos=0))


def _draw_route(
    chance: Random, host: DraftNetns, topology: Topology, addresses: list[Address]
) -> Route:
    kind = chance.choice(
        ("blackhole", "unreachable", "prohibit", "throw", "unicast", "unicast", "unicast")
    )
    links: Sequence[str] = ()
    if kind == "unicast":
        links = chance.sample(topology.devices, 2 if chance.random() < 0.25 else 1)
    hops = tuple(
        Nexthop(link=IfName(link), weight=chance.choice((1, 2)) if len(links) > 1 else 1)
        for link in links
    )
    own = [item.address for item in host.addresses]
    return Route(
        prefix=Prefix.of(chance.choice(addresses), chance.choice((16, 24, 32))),
        type=kind,
        nexthops=hops,
        mtu=chance.choice((None, None, None, 1300)) if hops else None,
        table=chance.choice((254, 100, 101)),
        metric=chance.choice((0, 5, 50)),
        tos=chance.choice((0, 0, 0, 0x10, 0x08)),
        prefsrc=chance.choice(own) if hops and chance.random() < 0.4 else None,
        scope="link" if hops else "global",
    )


_SELECTORS = (
    "from",
    "to",
    "iif",
    "fwmark",
    "ipproto",
    "dport",
    "sport",
    "all",
    "oif",
    "tos",
    "uidrange",
)


def _draw_policy_rule(
    chance: Random, topology: Topology, addresses: list[Address], used: set[int]
) -> PolicyRule:
    selector = chance.choice(_SELECTORS)
    priority = chance.choice([number for number in range(100, 140) if number not in used])
    length = chance.choice((16, 24, 32))
    action = chance.choice(("lookup",) * 7 + ("unreachable", "blackhole", "prohibit", "goto"))
    by_selector: dict[str, dict[str, object]] = {
        "from": {"src": Prefix.of(chance.choice(addresses), length)},
        "to": {"dst": Prefix.of(chance.choice(addresses), length)},
        "iif": {"iif": IfName(chance.choice((*topology.devices, "lo")))},
        "oif": {"oif": IfName(chance.choice(topology.devices))},
        "fwmark": {"mark": _draw_masked_mark(chance)},
        "ipproto": {"protocol": chance.choice((protocols.TCP, protocols.UDP, protocols.ICMP))},
        "dport": {"protocol": protocols.TCP, "dport": _port_range(chance)},
        "sport": {
            "protocol": protocols.TCP,
            "sport": chance.choice((PortRange(30000, 45000), _port_range(chance))),
        },
        "tos": {"tos": chance.choice((0x10, 0x08))},
        "uidrange": {"uids": chance.choice((PortRange(0, 0), PortRange(1000, 2000)))},
        "all": {},
    }
    return PolicyRule(
        family=4,
        priority=priority,
        negated=chance.random() < 0.15 and selector != "all",
        action=action,
        table=chance.choice((100, 101, 254)),
        goto=32766 if action == "goto" else None,
        suppress_prefixlength=chance.choice((0, 16))
        if action == "lookup" and chance.random() < 0.2
        else None,
        **by_selector[selector],  # type: ignore[arg-type]  # fields of PolicyRule
    )


def _draw_masked_mark(chance: Random) -> MaskedMark:
    return MaskedMark(chance.choice((1, 2, 0x4000)), chance.choice((0xFF, 0x4000, 0xFFFFFFFF)))


def _port_range(chance: Random) -> PortRange:
    first = chance.choice(PORTS)
    return PortRange(first, chance.choice((first, first + 10)))
