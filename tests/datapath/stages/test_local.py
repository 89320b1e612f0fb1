"""Tests of local delivery."""

from __future__ import annotations

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Delivered, Undecided
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node, probe
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import decisions, last, reason_of

INCOMING = probe("tcp 203.0.113.5 > 192.0.2.2:80 in eth0")


def given(*rules: str) -> Node:
    """Return a host with filter rules."""
    tables = given_tables(given_rules(*rules))
    netfilter = {"netfilter": {4: Netfilter(tables=tables, complete=True)}}
    return given_node(
        given_netns(
            "host",
            "eth0 192.0.2.2/24",
            routes=["default via 192.0.2.254 dev eth0"],
            netns=netfilter,
        )
    )


def test_a_packet_reaches_the_sockets_door() -> None:
    """What INPUT lets pass is delivered."""
    found = converse(given("INPUT -p tcp -m tcp --dport 80 -j ACCEPT", "INPUT -j DROP"), INCOMING)

    assert ("ALWAYS", Delivered, "host socket: deliver") == (
        found.verdict, type(found.branches[0].traces[0].outcome),
        decisions(found.branches[0].traces[0])[-1],
    )  # fmt: skip


def test_input_may_end_it() -> None:
    """What INPUT drops reaches nobody."""
    found = converse(given("INPUT -j DROP"), INCOMING)

    assert ("NEVER", "NETFILTER_DROP") == (found.verdict, reason_of(last(found).outcome))


def test_packets_to_the_host_itself_keep_their_connection_over_lo() -> None:
    """What the host sends itself goes through OUTPUT and INPUT with one connection, and is not
    routed a second time.
    """
    found = converse(
        given("INPUT -m conntrack --ctstate NEW,ESTABLISHED -j ACCEPT", "INPUT -j DROP"),
        probe("tcp 192.0.2.2 > 192.0.2.2:80"),
    )

    assert "ALWAYS" == found.verdict
    assert "host route input: local" not in decisions(found.branches[0].traces[0])


def test_ipvs_takes_what_is_for_its_own_device_alone() -> None:
    """A node that runs kube-proxy with IPVS still answers at its own address."""
    host = given_netns(
        "host", "eth0 192.0.2.2/24", "kube-ipvs0 10.96.0.1/32",
        routes=["default via 192.0.2.254 dev eth0"],
    )  # fmt: skip
    own = converse(given_node(host), INCOMING)
    service = converse(given_node(host), probe("tcp 203.0.113.5 > 10.96.0.1:80 in eth0"))

    assert isinstance(own.branches[0].traces[0].outcome, Delivered)
    assert isinstance(service.branches[0].traces[0].outcome, Undecided)
