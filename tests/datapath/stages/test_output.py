"""Tests of local output: the route, OUTPUT, and the second route after it."""

from __future__ import annotations

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Delivered
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.report.sentences import spell_failure
from podpath.testing.nodes import given_netns, given_node, probe
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import decisions, last, reason_of, reasons

DROPPING = given_rules("OUTPUT -j DROP")


def given(*texts: str, rules: tuple[str, ...] = ()) -> Node:
    """Return a host with two ways out."""
    tables = tuple(table for text in texts for table in given_tables(text))
    routes = [
        "default via 192.0.2.254 dev eth0",
        "default via 198.51.100.254 dev eth1 table 100",
        "10.9.0.0/16 dev eth1",
    ]
    netns = given_netns(
        "host", "eth0 192.0.2.2/24", "eth1 198.51.100.2/24", routes=routes, rules=rules,
        netns={"netfilter": {4: Netfilter(tables=tables, complete=True)}},
    )  # fmt: skip
    return given_node(netns)


def test_a_source_left_open_is_chosen_by_the_route() -> None:
    """0.0.0.0 as a source becomes the address that the route gives, and the connection goes on with
    it.
    """
    found = converse(given(), probe("tcp 0.0.0.0 > 10.9.0.5:80 from host"))

    assert "ALWAYS" == found.verdict
    assert "198.51.100.2" == str(found.branches[0].traces[1].packet.dst)


def test_a_mark_set_in_mangle_output_routes_again_and_keeps_the_source() -> None:
    """A mark that a policy rule wants sends the packet another way, with the source address of the
    first.
    """
    mangle = given_rules("OUTPUT -d 8.8.8.8/32 -j MARK --set-xmark 0x1/0xffffffff", table="mangle")
    trace = (
        converse(
            given(mangle, rules=("100: fwmark 0x1 lookup 100",)),
            probe("tcp 192.0.2.2 > 8.8.8.8:53"),
        )
        .branches[0]
        .traces[0]
    )

    assert "8.8.8.8 goes out on eth1 via 198.51.100.254" in reasons(trace)
    assert ("host reroute: route", "192.0.2.2") == (
        decisions(trace)[2],
        str(trace.steps[-1].after.src),
    )


def test_dnat_in_output_routes_again() -> None:
    """A new destination is routed where it belongs."""
    nat = given_rules("OUTPUT -d 10.96.0.10/32 -j DNAT --to-destination 10.9.0.5", table="nat")

    assert "10.9.0.5 goes out on eth1" in reasons(
        converse(given(nat), probe("tcp 192.0.2.2 > 10.96.0.10:80")).branches[0].traces[0]
    )


def test_the_sender_gets_the_error_of_the_lookup() -> None:
    """A packet without route, or that cannot be routed again, ends with an error number."""
    nowhere = given_node(given_netns("host", "eth0 192.0.2.2/24"))
    found = converse(nowhere, probe("tcp 192.0.2.2 > 8.8.8.8:53"))

    assert ("IP_OUTNOROUTES", ("SYN rejected in host at route output (ENETUNREACH): no route leads "
                              "to 8.8.8.8")) == (
        reason_of(last(found).outcome), spell_failure(found.branches[0].failure),
    )  # fmt: skip


def test_output_may_end_it() -> None:
    """What OUTPUT drops never leaves."""
    assert "NETFILTER_DROP" == reason_of(
        last(
            converse(given(given_rules("OUTPUT -j DROP")), probe("tcp 192.0.2.2 > 8.8.8.8:53"))
        ).outcome
    )


def test_no_stream_goes_to_a_broadcast_address() -> None:
    """The socket refuses before any rule sees a packet; a datagram is sent."""
    node = given(DROPPING)
    stream = converse(node, probe("tcp 192.0.2.2 > 192.0.2.255:80 from host"))
    datagram = converse(node, probe("udp 192.0.2.2 > 192.0.2.255:67 from host"))

    assert "NEVER" == stream.verdict
    assert "TCP makes no connection to 192.0.2.255, which is a broadcast address" in reasons(
        stream.branches[0].last
    )
    assert () == stream.branches[0].last.matched
    assert () != datagram.branches[0].last.matched


def test_a_connection_to_no_address_is_one_to_the_sender() -> None:
    """Its own address where the socket is bound to one, else the loopback address."""
    bound = converse(given(), probe("tcp 192.0.2.2 > 0.0.0.0:80 from host"))
    left_open = converse(given(), probe("tcp 0.0.0.0 > 0.0.0.0:80 from host"))
    ends = [found.branches[0].traces[0].outcome for found in (bound, left_open)]

    assert ["ALWAYS", "ALWAYS"] == [bound.verdict, left_open.verdict]
    assert ["192.0.2.2", "127.0.0.1"] == [
        str(one.packet.dst) for one in ends if isinstance(one, Delivered)
    ]
