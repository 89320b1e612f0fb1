"""Tests of what the ends of a connection make of a packet: whose it is, and how it is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.failures import EndPlace, Misdelivered, NobodyListens, PacketDropped
from podpath.datapath.tracing.trace import Delivered
from podpath.datapath.vocabulary import ConversationFailure, GivenSocket
from podpath.report.sentences import spell_failure
from podpath.testing.nodes import given_netns, given_node, listening, probe
from tests.datapath.connected import WORLD, given_connected, given_proxied
from tests.datapath.given import given_rules, given_tables


def test_a_proxy_answers_in_the_servers_name() -> None:
    """Its socket is given what the rule marks, and sends from the address that was asked for."""
    found = converse(given_proxied(), WORLD)

    assert "ALWAYS" == found.verdict, spell_failure(found.branches[0].failure)
    opened, answer, later, *_ = found.branches[0].traces
    assert isinstance(opened.outcome, Delivered)
    assert isinstance(later.outcome, Delivered)
    assert "203.0.113.9" == str(answer.packet.src)
    assert (GivenSocket.LISTENER, GivenSocket.CONNECTED) == (
        opened.outcome.given,
        later.outcome.given,
    )


def test_the_proxys_listener_knows_nothing_of_a_translated_connection() -> None:
    """What it took under another address it does not find again: a reset answers."""
    node = given_proxied()
    tables = given_tables(
        given_rules("PREROUTING -d 203.0.113.9 -j DNAT --to 203.0.113.8", table="nat")
    )
    netfilter = node.host.netfilter[4]
    host = replace(
        node.host,
        netfilter={4: replace(netfilter, tables=(*netfilter.tables, *tables))},
    )
    found = converse(replace(node, namespaces={**node.namespaces, "host": host}), WORLD)

    assert ConversationFailure.STRAY is found.branches[0].kind
    assert ["RST"] == sorted({answer.name for answer in found.branches[0].answers} - {"data"})


@pytest.mark.parametrize(("protocol", "answer"), [("tcp", "RST"), ("udp", "icmp-port-unreachable")])
def test_nobody_listens(protocol: str, answer: str) -> None:
    """Where the sockets are all listed and none takes the packet the connection is refused, and the
    client told.
    """
    node = given_connected(sockets=listening(22))
    branch = converse(node, probe(f"{protocol} 203.0.113.9 > 10.1.0.2:80")).branches[0]

    assert ("refused", False, [answer]) == (
        branch.kind,
        branch.works,
        [trace.name for trace in branch.answers],
    )
    assert spell_failure(branch.failure).endswith(
        "nobody listens on " + str(branch.last.steps[-1].after)
    )


@pytest.mark.parametrize(
    ("port", "verdict"), [(8080, "SOMETIMES"), (8083, "SOMETIMES"), (22, "NEVER")]
)
def test_a_listener_is_met_by_some_of_the_ports_that_are_drawn(port: int, verdict: str) -> None:
    """Whichever port of the rule's range stands for what the kernel draws."""
    rule = "PREROUTING -p tcp --dport 80 -j DNAT --to-destination 10.1.0.2:8080-8085"
    node = given_connected(given_rules(rule, table="nat"), sockets=listening(port))
    drawing = replace(node, kernel="6.1.0-49-amd64")
    found = converse(drawing, probe("tcp 203.0.113.9 > 192.0.2.2:80"))
    unheard = next(one.failure for one in found.branches if not one.works)

    assert verdict == found.verdict
    assert isinstance(unheard, NobodyListens)
    assert unheard.packet.dport in {*range(8080, 8086)} - {port}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("tcp 203.0.113.9 > 10.1.0.2:22", "ALWAYS"),
        ("icmp 203.0.113.9 > 10.1.0.2", "ALWAYS"),
        ("udp 203.0.113.9 > 10.1.0.2:22", "NEVER"),
    ],
)
def test_a_listener_takes_its_own(text: str, verdict: str) -> None:
    """A socket takes its protocol and port; an echo needs none."""
    assert verdict == converse(given_connected(sockets=listening(22)), probe(text)).verdict


def test_a_drop_names_packet_place_and_reason() -> None:
    """The failure is one line: which packet, where, which rule."""
    branch = converse(
        given_connected(given_rules("FORWARD -p tcp -m tcp --dport 80 -j DROP")), WORLD
    ).branches[0]

    assert ("dropped", True) == (
        branch.kind,
        isinstance(branch.failure, PacketDropped),
    )


def test_a_reply_that_is_not_translated_back_fails_by_its_own_name() -> None:
    """A reply that comes with another source than was asked is no answer to the client."""
    nat = given_rules(
        "PREROUTING -d 10.96.0.10/32 -j DNAT --to-destination 203.0.113.9", table="nat"
    )
    raw = given_rules("PREROUTING -i eth0 -j NOTRACK", table="raw")
    branch = converse(given_connected(nat, raw), probe("tcp 10.1.0.2 > 10.96.0.10:80")).branches[0]

    assert ("reply not translated", ["RST"]) == (
        branch.kind,
        [trace.name for trace in branch.answers],
    )


def test_a_later_packet_that_is_translated_otherwise_is_a_stray() -> None:
    """A packet that reaches the server under another tuple than the SYN did belongs to no
    connection there.
    """
    nat = given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat")
    raw = given_rules(
        "PREROUTING -i lxc1 -p tcp -m tcp ! --tcp-flags SYN SYN -j NOTRACK", table="raw"
    )
    branch = converse(given_connected(nat, raw), WORLD).branches[0]

    assert ("stray", "ACK") == (branch.kind, branch.last.name)


def test_a_reply_to_the_wrong_place_is_misdelivered() -> None:
    """A reply that reaches another host than the client is lost."""
    nat = given_rules("POSTROUTING -o eth0 -j SNAT --to-source 192.0.2.2", table="nat")
    raw = given_rules("PREROUTING -i eth0 -j NOTRACK", table="raw")
    branch = converse(given_connected(nat, raw), WORLD).branches[0]

    lost = Misdelivered("SYN-ACK", EndPlace("host", None), EndPlace("pod", None), True)
    assert ("misdelivered", lost) == (branch.kind, branch.failure)


def test_what_is_not_modelled_is_undecided() -> None:
    """A conversation that meets a boundary neither works nor fails."""
    found = converse(
        given_node(given_netns("host", "eth0 master red", "red kind vrf")),
        probe("tcp 203.0.113.9 > 192.0.2.2:80 in eth0"),
    )

    assert ("UNDECIDED", None, "undecided") == (
        found.verdict,
        found.branches[0].works,
        found.branches[0].kind,
    )
