"""Tests for NAT at the hooks: rules for the first packet, stored tuples for the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.conntrack.icmp import REDIRECT
from podpath.datapath.conntrack.tuples import inverse
from podpath.datapath.nat.stage import NatStage
from podpath.datapath.netfilter.ruleset import ruleset
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.vocabulary import CtInfo, Hook
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Listing
from podpath.node.netfilter import ConntrackEntry, ConnTuple
from podpath.report.sentences import spell_reason
from tests.datapath.given import Given, Sender, given, given_rules, tcp
from tests.nftables import native_tables

SYN, ACK = protocols.SYN, protocols.ACK
SERVICE = given_rules(
    (
        "PREROUTING -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination "
        "198.51.100.7:8080"
    ),
    table="nat",
)


def test_rules_translate_the_first_packet_only() -> None:
    """Later packets match no nat rule and are translated as the first one was."""
    sender = Sender(given(SERVICE))
    first = sender.forward(tcp(dst="10.96.0.10"))[1]
    hits = len(sender.walk.trace.matched)
    sender.forward(
        tcp("198.51.100.7", "10.244.0.5", 8080, 40000, flags=SYN | ACK), iif="eth0", oif="cni0"
    )
    later = sender.forward(tcp(dst="10.96.0.10", flags=ACK))[1]

    assert (1, 0) == (hits, len(sender.walk.trace.matched))
    assert (
        ("198.51.100.7", 8080)
        == (str(first.packet.dst), first.packet.dport)
        == (str(later.packet.dst), later.packet.dport)
    )
    assert (
        "translated like the connection's first packet, tcp 10.244.0.5:40000 > 10.96.0.10:80"
        in [spell_reason(step.reason) for step in sender.walk.trace.steps]
    )


@pytest.mark.parametrize(
    ("rule", "asks"),
    [
        ("tcp dport 80 dnat to 10.9.9.9", True), ("tcp dport 80 drop", True),
        ("tcp dport 81 dnat to 10.9.9.9", False), ("tcp dport 80 accept", False),
    ],
)  # fmt: skip
def test_the_order_is_asked_for_where_it_matters(rule: str, *, asks: bool) -> None:
    """A native chain of iptables' own priority that does nothing to the packet stands anywhere."""
    table = "table ip t {{ chain c {{ type nat hook prerouting priority -100; {}; }}\n}}"
    made = given(SERVICE)
    listing = Listing(native_tables(table.format(rule)), True, "nft list ruleset")
    node = replace(made.node, namespaces={"host": replace(made.netns, nftables=listing)})
    sender = Sender(Given(node=node))
    sender.forward(tcp(dst="10.96.0.10"))

    assert asks is any("registered last" in each.fact for each in sender.walk.choices.made)


def test_replies_are_translated_back() -> None:
    """The client sees the service's address and port."""
    sender = Sender(given(SERVICE))
    sender.forward(tcp(dst="10.96.0.10"))
    back = sender.forward(
        tcp("198.51.100.7", "10.244.0.5", 8080, 40000, flags=SYN | ACK), iif="eth0", oif="cni0"
    )[1]

    assert ("10.96.0.10", 80) == (str(back.packet.src), back.packet.sport)


def test_changed_rules_leave_old_connections_alone() -> None:
    """An entry of the evidence decides, not the rule that is there now."""
    pod, service, old = (
        Address.parse(text) for text in ("10.244.0.5", "10.96.0.10", "198.51.100.99")
    )
    entry = ConntrackEntry(
        original=ConnTuple(pod, service, 6, 40000, 80), reply=ConnTuple(old, pod, 6, 8080, 40000),
        state="ESTABLISHED", replied=True,
    )  # fmt: skip
    _, skb = Sender(given(SERVICE, conntrack=(entry,))).forward(tcp(dst="10.96.0.10", flags=ACK))

    assert "198.51.100.99" == str(skb.packet.dst)


def test_invalid_packets_keep_their_addresses() -> None:
    """A packet that conntrack calls invalid leaves with its private source."""
    node = given(given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat"))
    _, skb = Sender(node).forward(tcp(flags=protocols.FIN | ACK))

    assert ("INVALID", "10.244.0.5") == (skb.ctinfo, str(skb.packet.src))


def test_an_accept_in_nat_is_a_null_binding() -> None:
    """A rule that accepts in nat settles that the connection is not translated."""
    rules = ("POSTROUTING -d 198.51.100.0/24 -j ACCEPT", "POSTROUTING -j MASQUERADE")
    sender = Sender(given(given_rules(*rules, table="nat")))
    _, skb = sender.forward(tcp())

    assert skb.connection is not None
    assert ("10.244.0.5", True, False) == (
        str(skb.packet.src),
        skb.connection.src_nat_done,
        skb.connection.src_nat,
    )


def test_a_drop_in_nat_ends_the_packet() -> None:
    """TTL and other rules may stand in nat; a DROP there is final, with its step."""
    rules = given_rules("PREROUTING -p tcp -j DROP", "POSTROUTING -j MASQUERADE", table="nat")
    sender = Sender(given(rules))

    assert "Drop" == type(sender.send(sender.skb(tcp()), "PREROUTING")).__name__
    assert "PREROUTING rule 1 drops it" == spell_reason(sender.walk.trace.steps[-1].reason)


def test_errors_are_translated_with_what_they_quote() -> None:
    """A masqueraded pod gets errors about the packets that it sent itself."""
    node = given(given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat"))
    sender = Sender(node)
    sent = sender.forward(tcp())[1].packet
    error = Packet(
        Address.parse("198.51.100.1"),
        Address.parse("192.0.2.1"),
        protocols.ICMP,
        icmp_type=11,
        quoted=sent,
    )
    back = sender.forward(error, iif="eth0", oif="cni0")[1].packet

    assert back.quoted is not None
    assert ("10.244.0.5", "tcp 10.244.0.5:40000 > 198.51.100.7:80 [SYN]") == (
        str(back.dst),
        str(back.quoted),
    )


@pytest.mark.parametrize(
    ("rules", "ends"), [(given_rules(table="nat"), "Accept"), (SERVICE, "Drop")]
)
def test_a_redirect_about_a_translated_connection_is_dropped(rules: str, ends: str) -> None:
    """Who is told could not make use of it; about another connection it passes."""
    tracks = given_rules("FORWARD -m conntrack --ctstate NEW -j ACCEPT")
    sender = Sender(given(rules, tracks))
    sent = sender.forward(tcp(dst="10.96.0.10"))[1].packet
    router = Address.parse("10.244.0.1")
    told = Packet(router, sent.src, protocols.ICMPV6, icmp_type=REDIRECT, quoted=sent)
    verdict = sender.send(sender.skb(told, iif=None, oif="cni0"), "OUTPUT", "POSTROUTING")

    assert type(verdict).__name__ == ends


def test_a_connection_that_another_one_announced_is_translated_by_rules() -> None:
    """Its first packet is RELATED, as an ICMP error is, and quotes nothing."""
    sender = Sender(given(SERVICE))
    skb = sender.skb(tcp(dst="10.96.0.10"))
    original = ConnTuple(skb.packet.src, skb.packet.dst, protocols.TCP, 40000, 80)
    skb.connection, skb.ctinfo = Connection(original, inverse(original)), CtInfo.RELATED
    state = HookState(sender.walk, skb, Hook.PREROUTING)
    stages = ruleset(sender.walk, skb.netns, 4).stages[Hook.PREROUTING]
    (translate,) = (stage for stage in stages if isinstance(stage, NatStage))
    translate(state)

    assert ("198.51.100.7", 8080) == (str(skb.packet.dst), skb.packet.dport)
