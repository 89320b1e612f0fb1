"""Nodes for the tests of netfilter, from the text that iptables-save prints, and packets sent
through one hook.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from podpath.assembly.netfilter.rules import assemble_rule
from podpath.datapath.netfilter.hooks import traverse
from podpath.datapath.netfilter.verdicts import Verdict
from podpath.datapath.tracing.exploration import Choices, explore
from podpath.datapath.vocabulary import Hook
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.evidence.iptables.rules import read_rules
from podpath.evidence.iptables.ruleset import RulesetRecord
from podpath.net import protocols
from podpath.net.addresses import Address, Family, IfName, Prefix
from podpath.net.packet import Packet
from podpath.net.provenance import Fact, Known, Listing, Source
from podpath.node.links import InterfaceAddress, Link
from podpath.node.netfilter import (
    Chain,
    ConntrackEntry,
    IpSet,
    MatchOption,
    Netfilter,
    SetMember,
    Table,
)
from podpath.node.node import Netns, NetnsRole, Node, Socket
from podpath.node.routing import LOCAL, Nexthop, Route
from podpath.testing.nodes import span
from podpath.xtables.legality import TableFlavour, TableName

ADDRESSES: Mapping[str, str] = {"eth0": "192.0.2.1/24", "cni0": "10.244.0.1/24"}
"""The devices of the host, unless a test says otherwise."""


def given_tables(
    text: str, *, flavour: str = "nft", family: Family = 4, complete: bool = True
) -> tuple[Table, ...]:
    """Read the tables of one `iptables-save`."""
    reading = read_rules(Source(name="iptables-save.txt", lines=tuple(text.strip().splitlines())))
    return tuple(
        _table(record, flavour, family, complete=complete)
        for record in reading.records
        if isinstance(record, RulesetRecord)
    )


def _table(record: RulesetRecord, flavour: str, family: Family, *, complete: bool) -> Table:
    name = record.table or "filter"
    chains = {
        chain.name: Known(
            Chain(
                name=chain.name,
                rules=tuple(
                    assemble_rule(rule, name, number) for number, rule in enumerate(chain.rules, 1)
                ),
                policy=chain.policy,
                span=chain.span,
            )
        )
        for chain in record.chains.values()
    }
    return Table(
        name=TableName(name),
        family=family,
        flavour=TableFlavour(flavour),
        chains=chains,
        complete=complete,
    )


def given_rules(
    *rules: str, table: str = "filter", policy: str = "ACCEPT", chains: Iterable[str] = ()
) -> str:
    """Spell one table as iptables-save does, from its rules without `-A`; `chains` names user
    chains.
    """
    bases = {
        "filter": ("INPUT", "FORWARD", "OUTPUT"),
        "nat": ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"),
        "raw": ("PREROUTING", "OUTPUT"),
        "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
        "security": ("INPUT", "FORWARD", "OUTPUT"),
    }[table]
    declared = [
        *(f":{name} {policy} [0:0]" for name in bases),
        *(f":{name} - [0:0]" for name in chains),
    ]
    return "\n".join((f"*{table}", *declared, *(f"-A {rule}" for rule in rules), "COMMIT"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A node with one namespace, and what its packets are sent through."""

    node: Node

    @property
    def netns(self) -> Netns:
        """The namespace."""
        return self.node.host


class Facts(TypedDict, total=False):
    """What a node may have besides tables."""

    legacy: str
    """Tables of the legacy flavour."""
    family: Family
    addresses: Mapping[str, str]
    """By device; one each."""
    sets: Iterable[IpSet]
    conntrack: Iterable[ConntrackEntry]
    sysctls: Mapping[str, str]
    sockets: Listing[Socket]
    complete: bool
    """False: the evidence shows only these chains and tables."""


def given(*texts: str, **facts: Unpack[Facts]) -> Given:
    """Make a node whose host has these tables (nft flavour), two devices and a default route."""
    family, complete = facts.get("family", 4), facts.get("complete", True)
    tables = tuple(
        table for text in texts for table in given_tables(text, family=family, complete=complete)
    )
    if "legacy" in facts:
        tables += given_tables(facts["legacy"], flavour="legacy", family=family)
    held = facts.get("addresses", ADDRESSES)
    sets = {entry.name: entry for entry in facts.get("sets", ())}
    host = Netns(
        name="host",
        role=NetnsRole.HOST,
        links=Listing(
            tuple(Link(name=IfName(name), ifindex=2 + number) for number, name in enumerate(held)),
            True,
            "ip link",
        ),
        addresses=Listing(tuple(_interface_addresses(held)), True, "ip addr"),
        routes=Listing(tuple(_routes(held)), True, "ip route show table all"),
        netfilter={
            family: Netfilter(tables=tables, complete=complete, sets=sets, sets_complete=complete)
        },
        conntrack=Listing(tuple(facts.get("conntrack", ())), True, "conntrack -L"),
        sockets=facts.get("sockets", Listing((), True, "ss -tuln")),
        sysctls={
            key: Known(value, span(f"{key} = {value}"))
            for key, value in facts.get("sysctls", {}).items()
        },
        sysctls_complete=True,
    )
    return Given(node=Node(name="node", namespaces={"host": host}))


def _interface_addresses(held: Mapping[str, str]) -> Iterable[InterfaceAddress]:
    """Yield the addresses of all devices in kernel order; a further one of the same network is
    secondary.
    """
    for link, texts in held.items():
        networks: set[Prefix] = set()
        for text in texts.split():
            address, _, length = text.partition("/")
            network = Prefix.parse(text)
            yield InterfaceAddress(
                link=IfName(link), address=Address.parse(address), length=int(length),
                secondary=network in networks, scope="host" if link == "lo" else "global",
            )  # fmt: skip
            networks.add(network)


def _routes(addresses: Mapping[str, str]) -> Iterable[Route]:
    """Yield the routes that addresses bring with them, and a default route over the first
    device.
    """
    for link, text in ((link, text) for link, texts in addresses.items() for text in texts.split()):
        address = Address.parse(text.partition("/")[0])
        hop = (Nexthop(link=IfName(link)),)
        yield Route(
            prefix=Prefix.of(address),
            type="local",
            nexthops=hop,
            table=LOCAL,
            prefsrc=address,
            scope="host",
        )
        yield Route(
            prefix=Prefix.parse(text),
            nexthops=hop,
            prefsrc=address,
            scope="link",
            protocol="kernel",
        )
    first = next(iter(addresses))
    gateway = Address(4, Prefix.parse(addresses[first].split()[0]).broadcast.value - 1)
    yield Route(prefix=Prefix(4, 0, 0), nexthops=(Nexthop(link=IfName(first), gateway=gateway),))


def with_netfilter(node: Given, netfilter: Netfilter) -> Given:
    """Return the node other tables."""
    return Given(
        node=replace(node.node, namespaces={"host": replace(node.netns, netfilter={4: netfilter})})
    )


def with_chain(node: Given, name: str, chain: Fact[Chain]) -> Given:
    """Give the node another chain of that name in its first table."""
    netfilter = node.netns.netfilter[4]
    table = replace(netfilter.tables[0], chains={**netfilter.tables[0].chains, name: chain})
    host = replace(
        node.netns, netfilter={4: replace(netfilter, tables=(table, *netfilter.tables[1:]))}
    )
    return Given(node=replace(node.node, namespaces={"host": host}))


def given_sets(text: str) -> tuple[IpSet, ...]:
    """Read sets from what `ipset save` prints."""
    made: dict[str, IpSet] = {}
    for line in text.splitlines():
        words = shlex.split(line)
        if words[0] == "create":
            options = {
                word: words[at + 1] if at + 1 < len(words) else ""
                for at, word in enumerate(words)
                if at > 2
            }
            family: Family = 6 if options.get("family") == "inet6" else 4
            made[words[1]] = IpSet(
                name=words[1], type=words[2], family=family, members=(), options=options
            )
        elif words[0] == "add":
            held = made[words[1]]
            options_given = tuple(MatchOption(word) for word in words[3:] if word == "wildcard")
            member = SetMember(tuple(words[2].split(",")), "nomatch" in words, options_given)
            made[words[1]] = replace(held, members=(*held.members, member))
    return tuple(made.values())


class Sender:
    """One branch of a walk: packets sent through hooks one after another, with the conntrack table
    they leave.
    """

    def __init__(
        self, given_node: Given, choices: Choices | None = None, engine: Engine | None = None
    ) -> None:
        """Start with the node's own conntrack entries."""
        self.given = given_node
        self.walk = Walk(engine or Engine(given_node.node), choices or Choices())

    def skb(
        self, packet: Packet, *, iif: str | None = "eth0", oif: str | None = None, mark: int = 0
    ) -> Skb:
        """Make a packet under way between two devices."""
        links = {link.name: link for link in self.given.netns.links.items}
        return Skb(
            packet,
            self.given.netns,
            iif=links.get(IfName(iif), Link(name=IfName(iif))) if iif else None,
            oif=links.get(IfName(oif), Link(name=IfName(oif))) if oif else None,
            mark=mark,
        )

    def send(self, skb: Skb, *hooks: Hook | str) -> Verdict:
        """Send a packet through hooks in turn; the last verdict, or the first that ends it."""
        del self.walk.trace.steps[:], self.walk.trace.matched[:]
        verdict: Verdict | None = None
        for hook in hooks:
            verdict = traverse(self.walk, skb, Hook(hook))
            if type(verdict).__name__ != "Accept":
                break
        assert verdict is not None
        return verdict

    def forward(
        self, packet: Packet, *, iif: str = "cni0", oif: str = "eth0"
    ) -> tuple[Verdict, Skb]:
        """Forward a packet: PREROUTING without an output device, then FORWARD and POSTROUTING with
        it.
        """
        skb = self.skb(packet, iif=iif)
        verdict = self.send(skb, "PREROUTING")
        if type(verdict).__name__ == "Accept":
            steps, matched = list(self.walk.trace.steps), list(self.walk.trace.matched)
            skb.oif = self.skb(packet, oif=oif).oif
            verdict = self.send(skb, "FORWARD", "POSTROUTING")
            self.walk.trace.steps[:0], self.walk.trace.matched[:0] = steps, matched
        return verdict, skb


def every_branch(given_node: Given, packet: Packet, hook: str, **device: str | None) -> set[str]:
    """Return the kinds of verdict that a packet may meet at a hook, over all branches."""

    def run(choices: Choices) -> str:
        sender = Sender(given_node, choices)
        return type(sender.send(sender.skb(packet, **device), hook)).__name__  # type: ignore[arg-type]  # names of devices

    return set(explore(run, deviations=8).results)


def tcp(
    src: str = "10.244.0.5",
    dst: str = "198.51.100.7",
    sport: int = 40000,
    dport: int = 80,
    *,
    flags: int = protocols.SYN,
) -> Packet:
    """Make a TCP segment."""
    seq = 0 if flags & protocols.SYN else 1
    ack = 1 if flags & protocols.ACK else 0
    return Packet(
        Address.parse(src),
        Address.parse(dst),
        protocols.TCP,
        sport,
        dport,
        flags=flags,
        seq=seq,
        ack=ack,
    )


def udp(
    src: str = "10.244.0.5", dst: str = "198.51.100.7", sport: int = 40000, dport: int = 53
) -> Packet:
    """Make a UDP datagram."""
    return Packet(Address.parse(src), Address.parse(dst), protocols.UDP, sport, dport)


def echo(
    src: str = "10.244.0.5", dst: str = "198.51.100.7", identifier: int = 7, *, reply: bool = False
) -> Packet:
    """Make an ICMP echo request, or its answer."""
    return Packet(
        Address.parse(src),
        Address.parse(dst),
        protocols.ICMP,
        identifier,
        identifier,
        icmp_type=0 if reply else 8,
    )
