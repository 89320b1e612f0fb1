"""Tests of transmission: POSTROUTING, MTU, MAC, device."""

from __future__ import annotations

import pytest

from podpath.datapath.stages.driver import drive
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.trace import Dropped, Outcome, Rejected, Transmitted
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import given_skb, given_walk, packet


def given(rules: str = "", device: str = "eth0 192.0.2.2/24") -> Node:
    """Return a host with one way out."""
    netfilter = {"netfilter": {4: Netfilter(tables=given_tables(rules), complete=True)}}
    return given_node(
        given_netns("host", device, routes=["default via 192.0.2.254 dev eth0"], netns=netfilter)
    )


def send(node: Node, what: Packet) -> Outcome:
    """Let a process of the host send a packet."""
    walk = given_walk(node)
    return drive(walk, given_skb(walk, what), paths.OUTPUT)


def test_the_source_is_translated_last() -> None:
    """POSTROUTING's new source is on the wire."""
    outcome = send(
        given(given_rules("POSTROUTING -j SNAT --to-source 203.0.113.7", table="nat")),
        packet("192.0.2.2", "8.8.8.8"),
    )

    assert "203.0.113.7" == (str(outcome.packet.src) if isinstance(outcome, Transmitted) else "")


def test_postrouting_may_end_it() -> None:
    """What POSTROUTING drops does not leave."""
    assert Dropped(netns="host", reason="NETFILTER_DROP") == send(
        given(given_rules("POSTROUTING -j DROP", table="mangle")), packet("192.0.2.2", "8.8.8.8")
    )


@pytest.mark.parametrize(
    ("length", "df", "kind"),
    [(1501, True, Rejected), (1501, False, Transmitted), (1500, True, Transmitted)],
)
def test_a_local_packet_that_does_not_fit(length: int, df: bool, kind: type) -> None:  # noqa: FBT001
    """A process that sends more than the MTU without fragmentation gets EMSGSIZE; what may be
    fragmented leaves in fragments.
    """
    outcome = send(given(), packet("192.0.2.2", "8.8.8.8", length=length, dont_fragment=df))

    assert (kind, "EMSGSIZE" if kind is Rejected else "") == (
        type(outcome),
        outcome.answer if isinstance(outcome, Rejected) else "",
    )


def test_the_frame_has_the_devices_mac_and_the_next_hops() -> None:
    """A packet leaves with the MAC of its device, to that of its gateway."""
    outcome = send(given(), packet("192.0.2.2", "8.8.8.8"))

    assert ("(MAC of eth0 in host)", "(MAC of 192.0.2.254)") == (
        (outcome.packet.smac, outcome.packet.dmac) if isinstance(outcome, Transmitted) else ()
    )


def test_a_broadcast_goes_to_everybody() -> None:
    """A broadcast packet has the broadcast MAC."""
    datagram = packet("192.0.2.2", "192.0.2.255", protocol=protocols.UDP, flags=0)
    outcome = send(given(), datagram)

    assert "ff:ff:ff:ff:ff:ff" == (outcome.packet.dmac if isinstance(outcome, Transmitted) else "")
