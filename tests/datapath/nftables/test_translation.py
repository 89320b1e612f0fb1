"""Translations of nftables: to addresses, ports, and what maps say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.net.provenance import Listing
from tests.datapath.given import Given, Sender, given, tcp
from tests.nftables import native_tables

TABLE = """table ip t {
	map backends {
		type ipv4_addr : ipv4_addr
		elements = { 198.51.100.7 : 10.9.9.1 }
	}
	chain c {
		type nat hook %s priority %s; policy accept;
		%s
	}
}
"""
PRIORITY = {"prerouting": "-100", "postrouting": "100"}


def host(rule: str, hook: str) -> Given:
    """Return a host with one native rule of nat."""
    made = given()
    tables = native_tables(TABLE % (hook, PRIORITY[hook], rule))
    netns = replace(made.netns, nftables=Listing(items=tables, complete=True, ask=""))
    return Given(node=replace(made.node, namespaces={"host": netns}))


@pytest.mark.parametrize(
    ("rule", "target"),
    [
        ("dnat to 10.9.9.9", "10.9.9.9:80"),
        ("dnat to 10.9.9.9:8080", "10.9.9.9:8080"),
        ("tcp dport 81 dnat to 10.9.9.9", "198.51.100.7:80"),
        ("dnat to ip daddr map { 198.51.100.7 : 10.9.9.1 }", "10.9.9.1:80"),
        ("dnat to ip daddr map { 198.51.100.8 : 10.9.9.1 }", "198.51.100.7:80"),
        ("dnat to ip daddr map @backends", "10.9.9.1:80"),
        ((
            "dnat ip to ip daddr . tcp dport map { 198.51.100.7 . 80 : 10.9.9.2 . "
            "8001 }"
        ), "10.9.9.2:8001"),
        ("dnat to 10.9.9.9:tcp dport map { 80 : 8000 }", "10.9.9.9:8000"),
        ("dnat to 10.9.9.9:tcp dport map { 81 : 8000 }", "198.51.100.7:80"),
        ("dnat to 10.9.9.9 : tcp dport map { 80 : 8000 }", "10.9.9.9:8000"),
        ("dnat to :tcp dport map { 80 : 8000 }", "198.51.100.7:8000"),
        ("redirect to :tcp dport map { 80 : 8000 }", "10.244.0.1:8000"),
        ("redirect", "10.244.0.1:80"),
        ("redirect to :15001", "10.244.0.1:15001"),
    ],
)  # fmt: skip
def test_a_destination_is_rewritten(rule: str, target: str) -> None:
    """A map that has nothing for the packet leaves it as it is."""
    _, skb = Sender(host(rule, "prerouting")).forward(tcp())

    assert target == f"{skb.packet.dst}:{skb.packet.dport}"


@pytest.mark.parametrize(
    ("rule", "target"),
    [
        ("dnat ip to 10.9.9.9", "10.9.9.9:80"),
        ("dnat ip6 to [fd00::9]:8080", "198.51.100.7:80"),
    ],
)
def test_a_statement_of_the_other_family_is_passed_over(rule: str, target: str) -> None:
    """A table of family inet sees both; a translation to IPv6 leaves a packet of IPv4 as it is."""
    tables = native_tables(TABLE.replace("ip t", "inet t") % ("prerouting", "-100", rule))
    made = given()
    netns = replace(made.netns, nftables=Listing(items=tables, complete=True, ask=""))
    node = replace(made.node, namespaces={"host": netns})
    _, skb = Sender(Given(node=node)).forward(tcp())

    assert target == f"{skb.packet.dst}:{skb.packet.dport}"


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        ("snat to 192.0.2.9", "192.0.2.9:40000"),
        ("snat to 192.0.2.9:5000", "192.0.2.9:5000"),
        ("masquerade", "192.0.2.1:40000"),
        ("masquerade to :5000", "192.0.2.1:5000"),
        ('oifname "eth1" masquerade', "10.244.0.5:40000"),
        ("snat to ip saddr map { 10.244.0.5 : 192.0.2.8 }", "192.0.2.8:40000"),
    ],
)
def test_a_source_is_rewritten(rule: str, source: str) -> None:
    """To an address of the device, of the rule or of a map."""
    _, skb = Sender(host(rule, "postrouting")).forward(tcp())

    assert source == f"{skb.packet.src}:{skb.packet.sport}"


def test_random_ports_are_any() -> None:
    """The walk says so and does not fork."""
    sender = Sender(host("masquerade random", "postrouting"))
    _, skb = sender.forward(tcp())

    assert skb.connection is not None
    assert skb.connection.port_at_random
    assert [] == sender.walk.choices.made


def test_what_came_by_lo_is_not_translated_when_it_arrives() -> None:
    """Its connection is confirmed on the way out: a chain of PREROUTING alone comes too late
    (`net/netfilter/nf_nat_core.c:nf_nat_setup_info v6.12`).
    """
    sender = Sender(host("dnat to 10.9.9.9", "prerouting"))
    skb = sender.skb(tcp("10.244.0.1", "10.244.0.1"), iif=None, oif="lo")
    sender.send(skb, "OUTPUT")
    sender.send(skb, "POSTROUTING")
    skb.iif, skb.oif = skb.oif, None
    sender.send(skb, "PREROUTING")

    assert skb.connection is not None
    assert skb.connection.confirmed
    assert "10.244.0.1" == str(skb.packet.dst)
