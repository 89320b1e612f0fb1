"""Tests of whole connections: handshake, data, replies, and how they fail."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.acts import script_of
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.routes import GivenToSocket
from podpath.datapath.walk.compiled import Engine
from podpath.node.node import Node
from podpath.report.sentences import spell_failure
from podpath.testing.nodes import (
    given_netns,
    given_node,
    probe,
)
from tests.datapath.connected import WORLD, given_connected, given_proxied
from tests.datapath.given import given_rules
from tests.datapath.walks import branch_where, last


def test_what_a_proxy_is_given_stays_here() -> None:
    """Without a route for its mark it would be forwarded, and is dropped."""
    found = converse(given_proxied(kept=False), WORLD)

    assert "NEVER" == found.verdict
    assert GivenToSocket() == found.branches[0].traces[0].deciding.reason


def names(node: Node, text: str) -> list[tuple[str, str]]:
    """Return name and direction of every packet of a connection that works."""
    found = converse(node, probe(text))
    assert "ALWAYS" == found.verdict, spell_failure(found.branches[0].failure)
    return [(trace.name, trace.direction) for trace in found.branches[0].traces]


def test_every_packet_of_a_connection_is_walked() -> None:
    """TCP has its handshake and data both ways, UDP a request and a reply, ICMP an echo."""
    node = given_connected()

    assert [
        ("SYN", "original"), ("SYN-ACK", "reply"), ("ACK", "original"), ("data", "original"),
        ("data reply", "reply"),
    ] == names(node, "tcp 10.1.0.2 > 203.0.113.9:80")  # fmt: skip
    assert [("request", "original"), ("reply", "reply")] == names(
        node, "udp 10.1.0.2 > 203.0.113.9:53"
    )
    assert [("echo request", "original"), ("echo reply", "reply")] == names(
        node, "icmp 10.1.0.2 > 203.0.113.9"
    )


def test_a_server_answers_what_it_saw_and_the_client_sees_what_it_asked() -> None:
    """Source translation is seen by the server, and undone for the client."""
    nat = given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat")
    first, second = converse(given_connected(nat), WORLD).branches[0].traces[:2]

    assert ("203.0.113.9", "192.0.2.2") == (str(second.packet.src), str(second.packet.dst))
    assert "10.1.0.2" == str(second.steps[-1].after.dst)
    assert "192.0.2.2" == str(first.steps[-1].after.src)


def test_conntrack_is_carried_from_packet_to_packet() -> None:
    """A reply that only an ESTABLISHED rule lets in comes in, since the SYN was seen."""
    rules = given_rules(
        "FORWARD -i lxc1 -j ACCEPT",
        "FORWARD -m conntrack --ctstate ESTABLISHED -j ACCEPT",
        "FORWARD -j DROP",
    )

    assert "ALWAYS" == converse(given_connected(rules), WORLD).verdict
    assert (
        "NEVER" == converse(given_connected(rules), probe("tcp 203.0.113.9 > 10.1.0.2:80")).verdict
    )


def test_the_kernels_choice_is_sometimes() -> None:
    """Where the kernel draws between a path that works and one that does not, the connection works
    sometimes.
    """
    rules = given_rules("FORWARD -i lxc1 -m statistic --mode random --probability 0.5 -j DROP")
    found = converse(given_connected(rules), WORLD)

    assert ("SOMETIMES", {True, False}) == (
        found.verdict,
        {branch.works for branch in found.branches},
    )
    assert all(made.random for branch in found.branches for made in branch.assumptions)


def test_an_unknown_fact_is_named_with_its_branch() -> None:
    """Each branch says which value it took for what is not known; a settled one is not forked
    over.
    """
    main = given_netns(
        "host",
        "eth0 192.0.2.2/24",
        "lxc1 peer pod:eth0",
        routes=["10.1.0.2 dev lxc1", "default dev eth0"],
        complete=False,
    )
    node = given_node(
        main,
        given_netns(
            "pod", "eth0 10.1.0.2/32 peer host:lxc1", routes=["default via 10.1.0.1 dev eth0"]
        ),
    )
    found = converse(node, WORLD)
    fact = "net.ipv4.ip_forward in netns host"

    assert (True, "SOMETIMES") == (found.branches[0].works, found.verdict)
    assert (fact, "0", "sysctl net.ipv4.ip_forward") == next(
        (made.fact, made.value, made.ask)
        for made in branch_where(found, works=False).assumptions
        if made.rank
    )
    assert "NEVER" == converse(node, WORLD, settled={fact: "0"}).verdict


def test_an_engine_is_shared_and_changes_nothing() -> None:
    """Many probes over one engine give what each gives alone."""
    node = given_connected(given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat"))
    engine = Engine(node)
    probes = [WORLD, probe("udp 10.1.0.2 > 203.0.113.9:53"), WORLD]

    assert [converse(node, one) for one in probes] == [converse(engine, one) for one in probes]


def test_other_packets_can_be_asked_for() -> None:
    """A caller may give its own script."""
    only = script_of(6)[:1]

    assert ["SYN"] == [
        trace.name for trace in converse(given_connected(), WORLD, script=only).branches[0].traces
    ]
    assert "SYN" == last(converse(given_connected(), WORLD, script=only)).name


@pytest.mark.parametrize(
    "text", ["tcp 2001:db8:1::2 > [2001:db8:9::9]:80", "icmp 2001:db8:1::2 > 2001:db8:9::9"]
)
def test_ipv6_is_walked_alike(text: str) -> None:
    """A connection over IPv6 takes the same path, with a hop limit and its own hooks."""
    main = given_netns(
        "host", "eth0 2001:db8:2::2/64", "lxc1 2001:db8:1::1/64 peer pod:eth0",
        routes=["default via 2001:db8:2::1 dev eth0"],
        sysctls={"net.ipv6.conf.all.forwarding": "1"},
    )  # fmt: skip
    pod = given_netns(
        "pod", "eth0 2001:db8:1::2/64 peer host:lxc1", routes=["default via 2001:db8:1::1 dev eth0"]
    )
    found = converse(given_node(main, pod), probe(text))

    assert "ALWAYS" == found.verdict, spell_failure(found.branches[0].failure)
    assert 63 == found.branches[0].traces[0].steps[-1].after.ttl
