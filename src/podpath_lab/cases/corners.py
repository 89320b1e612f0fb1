"""Corners of the model that no other draw comes by, as its wrong copies showed (scripts/
wrong_models.py): chains long enough for an index, chains at devices and before defragmentation,
dormant tables, zones of one direction, bridges with settings of their own, second gateways, local
routes of other networks, segment sizes of a route, and errors of ICMP that answer nothing.

They are drawn by a chance of their own, so that no other draw of a case changes.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from podpath.net import nft, protocols
from podpath.net.addresses import Prefix
from podpath.net.packet import Packet
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import (
    InterfaceMatch,
    Match,
    MatchOption,
    PrefixMatch,
    ProtocolMatch,
    Rule,
    Target,
)
from podpath.node.nftables import NftChain, NftRule, NftSet, NftTable
from podpath.node.node import HOST
from podpath_lab.cases.routing import PORTS
from podpath_lab.cases.rules import VIP, make_rule
from podpath_lab.draft import BASE_CHAINS, DraftNetns
from podpath_lab.topologies import Topology

SHARE = 0.3
"""How many cases have corners."""
LONG = (16, 17, 24, 40)
"""Rules of a long chain: from as many as get an index."""
LENGTH = 1428
"""Bytes of a crafted datagram, 20 more in IPv6."""
MTUS = tuple(LENGTH + more + less for more in (0, 20) for less in (-5, -4, -1, 0))
"""A veth takes 4 bytes more than its MTU, a route none."""
EARLY = -450
"""A priority before that of defragmentation (-400)."""
_ERRORS = ((3, 1), (3, 3), (3, 4), (4, 0), (5, 1), (11, 0), (12, 0))
STRANGERS = ("203.0.113.0/24", "198.51.100.0/24")
"""Networks of which a host may say that they are its own: of sources that nobody has, and of the
world's.
"""
_COUNTER = nft.Counter()
_EQUALITY = (nft.Comparison.EQUAL, nft.Comparison.UNEQUAL)
_OF_IP = nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("protocol"), nft.Literal("ip"))
_PATTERNS = {"tcp": ("80", "443"), "udp": ("53", "8080")}


def draw_corners(chance: Random, topology: Topology, flavour: str, other: str) -> None:
    """Draw some of the corners that a node may have; the nat table of a second gateway has a flavor
    of its own, so that two of them may translate alike.
    """
    host = topology.draft.namespaces[HOST]
    if chance.random() < 0.3:
        _draw_long_chain(chance, host, topology, flavour)
    if chance.random() < 0.3:
        _draw_zones(chance, host, topology, flavour)
    if chance.random() < 0.25:
        host.nftables.append(_draw_early_table(chance, topology))
    if chance.random() < 0.25:
        host.nftables.append(_draw_device_table(chance, topology))
    if chance.random() < 0.3:
        _draw_bridge_settings(chance, host)
    if chance.random() < 0.3:
        _draw_second_gateway(chance, topology, other)
    if chance.random() < 0.3:
        _draw_mtu(chance, host, topology)
    if chance.random() < 0.15:
        host.add_route(chance.choice(STRANGERS), "lo", type="local", table=255, scope="host")
    if chance.random() < 0.15:
        _draw_segment_size(chance, topology)


def draw_odd_frame(chance: Random, topology: Topology, frame: Packet) -> Packet:
    """Return an ICMP error instead of a crafted frame, or one of the length that devices' MTUs are
    drawn for.
    """
    sized = any(link.mtu in MTUS for link in topology.draft.namespaces[HOST].links)
    if chance.random() < (0.1 if sized else 0.4):
        return draw_error(chance, frame)
    if sized and chance.random() < 0.8:
        frame = frame._replace(
            protocol=protocols.UDP,
            sport=frame.sport or 40000,
            dport=frame.dport or PORTS[0],
            flags=0,
            icmp_type=0,
            seq=0,
            ack=0,
            ttl=64,
        )
    if frame.protocol == protocols.UDP:
        return frame._replace(payload=LENGTH - 28, length=LENGTH)
    return frame


def draw_error(chance: Random, frame: Packet) -> Packet:
    """Return an ICMP error instead of a crafted frame: it quotes what its sender never got."""
    kind, code = chance.choice(_ERRORS)
    about = Packet(
        frame.dst,
        frame.src,
        protocols.UDP,
        frame.dport or 80,
        frame.sport or 80,
        length=28,
        dont_fragment=False,
    )
    return frame._replace(
        protocol=protocols.ICMP,
        icmp_type=kind,
        icmp_code=code,
        sport=0,
        dport=0,
        flags=0,
        seq=0,
        ack=0,
        payload=0,
        length=56,
        quoted=about,
    )


def _draw_long_chain(chance: Random, host: DraftNetns, topology: Topology, flavour: str) -> None:
    """Fill a chain with rules that pin down addresses, ports, devices and marks."""
    name = chance.choice(("filter", "mangle", "raw"))
    chains = host.table(name, flavour).chains
    chain = chance.choice(BASE_CHAINS[name])
    rules = chains[chain]
    for _ in range(chance.choice(LONG) - len(rules)):
        rules.insert(chance.randrange(len(rules) + 1), _draw_pinned(chance, topology, name, chain))


def _draw_pinned(chance: Random, topology: Topology, table: str, chain: str) -> Rule:
    addresses = [VIP, *(address for _, address in topology.speakers)]
    fields: dict[str, object] = {}
    for end in ("src", "dst"):
        if chance.random() < 0.5:
            prefix = Prefix.of(chance.choice(addresses), chance.choice((8, 16, 24, 32)))
            fields[end] = PrefixMatch(prefix, chance.random() < 0.1)
    if chance.random() < 0.6:
        protocol = chance.choice((protocols.TCP, protocols.TCP, protocols.UDP))
        fields["protocol"] = ProtocolMatch(protocol)
        if chance.random() < 0.7:
            option = MatchOption("dport", (str(chance.choice((*PORTS, 443))),))
            fields["matches"] = (Match(protocols.protocol_name(protocol), (option,)),)
    link = InterfaceMatch(chance.choice(topology.devices), False, False)
    if chain in {"PREROUTING", "INPUT", "FORWARD"} and chance.random() < 0.3:
        fields["in_link"] = link
    elif chain in {"OUTPUT", "POSTROUTING"} and chance.random() < 0.3:
        fields["out_link"] = link
    elif chance.random() < 0.2 and "matches" not in fields:
        value = chance.choice(("0x0", "0x1", "0x0/0xff", "0x4000/0x4000"))
        fields["matches"] = (Match("mark", (MatchOption("mark", (value,)),)),)
    target = chance.choice((None, None, None, Target("ACCEPT"), Target("RETURN")))
    if table == "mangle" and chance.random() < 0.3:
        marks = ("0x1/0xffffffff", "0x4000/0x4000", "0x0/0xff")
        target = Target("MARK", (MatchOption("set-xmark", (chance.choice(marks),)),))
    return make_rule(target, **fields)


def _draw_zones(chance: Random, host: DraftNetns, topology: Topology, flavour: str) -> None:
    """Put what comes in on one device into a zone, in one direction or in both."""
    chain = chance.choice(("PREROUTING", "PREROUTING", "OUTPUT"))
    kind = chance.choice(("zone-orig", "zone-reply", "zone-orig", "zone"))
    link = InterfaceMatch(chance.choice(topology.devices), False, False)
    fields = {"in_link" if chain == "PREROUTING" else "out_link": link}
    rule = make_rule(Target("CT", (MatchOption(kind, ("5",)),)), **fields)
    host.table("raw", flavour).chains[chain].insert(0, rule)


def _draw_bridge_settings(chance: Random, host: DraftNetns) -> None:
    """Let a bridge call iptables by its own setting, whatever that of the namespace is."""
    for place, link in enumerate(host.links):
        if link.bridge is not None:
            calls = chance.choice(((True, True), (True, False), (False, True)))
            host.links[place] = replace(
                link,
                bridge=replace(link.bridge, nf_call_iptables=calls[0], nf_call_ip6tables=calls[1]),
            )
            if chance.random() < 0.7:
                host.sysctls["net.bridge.bridge-nf-call-iptables"] = "0"


def _draw_mtu(chance: Random, host: DraftNetns, topology: Topology) -> None:
    """Give a device an MTU that the datagram just fits, or just does not."""
    if any(link.vxlan for link in host.links):
        return
    name, mtu = chance.choice(topology.devices), chance.choice(MTUS)
    host.links[:] = [replace(link, mtu=mtu) if link.name == name else link for link in host.links]


def _draw_segment_size(chance: Random, topology: Topology) -> None:
    """Let a route of some namespace say what MSS its connections offer."""
    netns = topology.draft.namespaces[chance.choice(sorted(topology.draft.namespaces))]
    for place, route in enumerate(netns.routes):
        if route.type == "unicast" and chance.random() < 0.5:
            netns.routes[place] = replace(route, advmss=chance.choice((536, 1000, 1400)))


def _draw_second_gateway(chance: Random, topology: Topology, flavour: str) -> None:
    """Give the uplink a second network and a way out through its gateway: what is masqueraded there
    has the address of that network.
    """
    host, world = (topology.draft.namespaces.get(name) for name in (HOST, "world"))
    if host is None or world is None:
        return
    for netns, text in ((host, "10.78.0.10/24"), (world, "10.78.0.1/24")):
        netns.add_address("eth0", text)
    prefix = chance.choice(("198.51.100.1/32", "198.51.100.0/24"))
    if all(route.prefix != Prefix.parse(prefix) for route in host.routes):
        host.add_route(prefix, "eth0", "10.78.0.1")
    rule = make_rule(Target("MASQUERADE"), out_link=InterfaceMatch("eth0", False, False))
    host.table("nat", flavour).chains["POSTROUTING"].append(rule)


def _draw_early_table(chance: Random, topology: Topology) -> NftTable:
    """Draw a table, dormant now and then, with a chain before defragmentation, a set that is made
    of expressions, and conditions on fields that a packet may lack.
    """
    hook = chance.choice((nft.NftHook.PREROUTING, nft.NftHook.OUTPUT))
    elements = tuple(
        nft.Element(nft.Concat((nft.Literal(str(address)), nft.Literal("80"))))
        for _, address in topology.speakers[::2]
    )
    held = NftSet(
        name="ends", types=("ip daddr", "tcp dport"), elements=_distinct(elements), typeof=True
    )
    marks = NftSet(
        name="marks",
        types=(chance.choice(("meta mark", "ct mark")),),
        typeof=True,
        elements=(nft.Element(nft.Literal("0x1")), nft.Element(nft.Literal("0x4000"))),
    )
    read = nft.Meta("mark") if marks.types == ("meta mark",) else nft.Ct("mark")
    pair = nft.Concat((nft.Payload("ip", "daddr"), nft.Payload("tcp", "dport")))
    protocol = chance.choice(("tcp", "udp"))
    ports = nft.SetOf(tuple(nft.Element(nft.Literal(port)) for port in _PATTERNS[protocol]))
    rules: tuple[tuple[nft.Statement, ...], ...] = (
        (nft.NftMatch(chance.choice(_EQUALITY), pair, nft.SetRef("ends")), _COUNTER),
        (nft.NftMatch(nft.Comparison.UNEQUAL, nft.Payload(protocol, "dport"), ports), _COUNTER),
        (nft.NftMatch(nft.Comparison.EQUAL, read, nft.SetRef("marks")), _COUNTER),
        (_change_mark(chance), _COUNTER),
    )
    name = "early"
    chain = NftChain(
        name="first",
        type=nft.NftChainType.FILTER,
        hook=hook,
        priority=chance.choice((EARLY, EARLY, -390, 10)),
        rules=_place(nft.NftFamily.IP, name, "first", rules),
    )
    return NftTable(
        family=nft.NftFamily.IP,
        name=name,
        chains={"first": chain},
        sets={"ends": held, "marks": marks},
        dormant=chance.random() < 0.3,
    )


def _draw_device_table(chance: Random, topology: Topology) -> NftTable:
    """Draw chains at devices, which count, mark and now and then drop."""
    name, chains = "wires", {}
    addresses = [address for _, address in topology.speakers]
    for number in range(chance.choice((1, 2))):
        device = chance.choice(topology.devices)
        hook = chance.choice((nft.NftHook.INGRESS, nft.NftHook.EGRESS))
        address = nft.Literal(str(chance.choice(addresses)))
        condition = nft.NftMatch(
            chance.choice(_EQUALITY),
            nft.Payload("ip", chance.choice(("saddr", "daddr"))),
            address,
        )
        ending = (nft.NftVerdict("drop"),) if chance.random() < 0.1 else ()
        rules: tuple[tuple[nft.Statement, ...], ...] = (
            (_OF_IP, _COUNTER),
            (_OF_IP, condition, _COUNTER, *ending),
            (
                _OF_IP,
                nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("l4proto"), nft.Literal("tcp")),
                _change_mark(chance),
                _COUNTER,
            ),
        )
        called = f"{hook}_{number}"
        chains[called] = NftChain(
            name=called,
            type=nft.NftChainType.FILTER,
            hook=hook,
            devices=(device,),
            priority=chance.choice((-5, 0, 5)),
            rules=_place(nft.NftFamily.NETDEV, name, called, rules),
        )
    return NftTable(
        family=nft.NftFamily.NETDEV, name=name, chains=chains, dormant=chance.random() < 0.2
    )


def _change_mark(chance: Random) -> nft.Statement:
    return nft.Mangle(nft.Meta("mark"), nft.Literal(chance.choice(("0x1", "0x2", "0x4000"))))


def _distinct(elements: tuple[nft.Element, ...]) -> tuple[nft.Element, ...]:
    return tuple(dict.fromkeys(elements))


def _place(
    family: nft.NftFamily, table: str, chain: str, rules: tuple[tuple[nft.Statement, ...], ...]
) -> tuple[NftRule, ...]:
    made = []
    for position, statements in enumerate(rules, 1):
        lines = (f"{family} {table} {chain} rule {position}",)
        span = Span(Source(name="generated/native", lines=lines), 1, 1)
        made.append(NftRule(family, table, chain, position, span, statements))
    return tuple(made)
