"""Tests for packets rewritten to their connection's tuples."""

from __future__ import annotations

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.nat.rewriting import is_translated, rewrite, rewrite_error
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.node.netfilter import ConnTuple
from tests.datapath.given import tcp

CLIENT, VIP, POD, NODE = (
    Address.parse(text) for text in ("10.244.0.5", "10.96.0.10", "10.244.1.9", "192.0.2.1")
)


def both_ways() -> Connection:
    """Return a connection whose source and destination are translated."""
    original = ConnTuple(CLIENT, VIP, protocols.TCP, 40000, 80)
    connection = Connection(original, ConnTuple(POD, NODE, protocols.TCP, 8080, 1024))
    connection.src_nat = connection.dst_nat = True
    return connection


def test_packets_of_each_direction_get_the_other_tuples_ends() -> None:
    """Forward packets get the service's pod and the node's port; replies come from the service
    again.
    """
    connection = both_ways()
    forward = tcp("10.244.0.5", "10.96.0.10")
    for source in (False, True):
        forward = rewrite(forward, connection, reply=False, source=source)
    answer = tcp("10.244.1.9", "192.0.2.1", 8080, 1024)
    back = rewrite(
        rewrite(answer, connection, reply=True, source=False), connection, reply=True, source=True
    )

    assert "tcp 192.0.2.1:1024 > 10.244.1.9:8080 [SYN]" == str(forward)
    assert "tcp 10.96.0.10:80 > 10.244.0.5:40000 [SYN]" == str(back)


def test_a_translated_source_is_a_replys_destination() -> None:
    """Which end of a packet is rewritten depends on its direction."""
    connection = both_ways()
    connection.dst_nat = False

    assert [True, False, False, True] == [
        is_translated(connection, reply=reply, source=source)
        for reply in (False, True)
        for source in (True, False)
    ]


def test_an_error_is_rewritten_with_what_it_quotes() -> None:
    """The packet inside is seen from the other end."""
    inner = Packet(NODE, POD, protocols.TCP, 1024, 8080)
    error = Packet(Address.parse("198.51.100.1"), NODE, protocols.ICMP, icmp_type=3, quoted=inner)
    there = rewrite_error(error, both_ways(), reply=True, source=False)

    assert there.quoted is not None
    assert ("10.244.0.5", "10.244.0.5", 40000) == (
        str(there.dst),
        str(there.quoted.src),
        there.quoted.sport,
    )


def test_protocols_without_ports_keep_theirs() -> None:
    """Of GRE only the address changes."""
    connection = both_ways()
    packet = Packet(CLIENT, VIP, protocols.GRE)

    assert packet._replace(dst=POD) == rewrite(packet, connection, reply=False, source=False)
