"""Tests of the ICMP errors that the host sends."""

from __future__ import annotations

import pytest

from podpath.datapath.icmp import TYPES, TYPES6, is_error, reject
from podpath.datapath.tracing.trace import Dropped, Rejected
from podpath.datapath.vocabulary import DropCause
from podpath.net import protocols
from podpath.testing.nodes import given_netns, given_node, ip
from tests.datapath.walks import given_skb, given_walk, packet

NODE = given_node(given_netns("host", "eth0 192.0.2.2/24", "lan 10.0.0.1/24"))


@pytest.mark.parametrize(("dst", "source"), [("10.1.0.5", "0.0.0.0"), ("10.0.0.1", "10.0.0.1")])
def test_an_error_quotes_its_cause(dst: str, source: str) -> None:
    """An error goes to the sender, with the network-control TOS, the packet in it, and a source
    left open unless asked for.
    """
    walk = given_walk(NODE)
    skb = given_skb(walk, packet("192.0.2.7", dst, tos=0x10), "eth0")
    outcome = reject(walk, skb, DropCause.NO_ROUTE, "icmp-net-unreachable")

    assert Rejected(netns="host", reason="IP_INNOROUTES", answer="icmp-net-unreachable") == outcome
    assert skb.answer is not None
    assert (ip(source), ip("192.0.2.7"), 3, 0, 0xD0, skb.packet) == (
        skb.answer.src, skb.answer.dst, skb.answer.icmp_type, skb.answer.icmp_code, skb.answer.tos,
        skb.answer.quoted,
    )  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [
        {"fragment": True},
        {"dst": ip("224.0.0.5")},
        {"src": ip("0.0.0.0")},
        {"protocol": 1, "icmp_type": 11},
    ],
)
def test_some_packets_get_no_error(fields: dict[str, object]) -> None:
    """Fragments, groups, packets without source and errors are dropped without a word."""
    walk = given_walk(NODE)
    skb = given_skb(walk, packet("192.0.2.7", "10.1.0.5", **fields), "eth0")

    assert (Dropped, None) == (
        type(reject(walk, skb, DropCause.TTL, "icmp-ttl-exceeded")),
        skb.answer,
    )


def test_ipv6_has_its_own_numbers() -> None:
    """ICMPv6 numbers its errors differently, and has all that ICMP has."""
    walk = given_walk(given_node(given_netns("host", "eth0 2001:db8::1/64")))
    skb = given_skb(walk, packet("2001:db8::9", "2001:db8:1::5"), "eth0")
    reject(walk, skb, DropCause.TTL, "icmp-ttl-exceeded")

    assert (protocols.ICMPV6, 3, 0) == (
        (skb.answer.protocol, skb.answer.icmp_type, skb.answer.icmp_code) if skb.answer else ()
    )
    assert set(TYPES) == set(TYPES6)


def test_what_an_error_is() -> None:
    """Queries and their replies are no errors."""
    kinds = [(1, 3), (1, 8), (1, 0), (58, 1), (58, 128), (6, 0)]

    assert [True, False, False, True, False, False] == [
        is_error(packet("1.1.1.1", "2.2.2.2", protocol=protocol, icmp_type=kind))
        for protocol, kind in kinds
    ]
