"""Tests of forwarding: TTL, MTU, redirects, in the kernel's order."""

from __future__ import annotations

import pytest

from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.routes import (
    Fragmented,
    GivenToSocket,
    NotForOneHost,
    RedirectSent,
    TtlExceeded,
)
from podpath.datapath.stages.driver import drive
from podpath.datapath.stages.forward import check_forward
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.trace import Dropped, Outcome, Rejected, Transmitted
from podpath.datapath.vocabulary import GivenSocket, PacketType
from podpath.net.packet import Packet
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import Fields, forwarding, given_netns, given_node
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import given_skb, given_walk, packet


def given(rules: str = "", **sysctls: str) -> Node:
    """Return a router."""
    fields: Fields = {"netfilter": {4: Netfilter(tables=given_tables(rules), complete=True)}}
    routes = ["10.1.0.0/16 dev lan mtu 1400", "10.2.0.0/16 via 192.0.2.9 dev wan"]
    own = {
        f"net.ipv4.conf.{device}.{key}": value
        for key, value in sysctls.items()
        for device in ("all", "wan")
    }
    settings = {**forwarding(rp_filter="0"), **own}
    return given_node(
        given_netns(
            "host",
            "wan 192.0.2.2/24",
            "lan 10.0.0.1/24",
            routes=routes,
            sysctls=settings,
            netns=fields,
        )
    )


def send(node: Node, what: Packet) -> tuple[Outcome, list[Reason], Packet | None]:
    """Send a packet in on `wan`; give the outcome, the reasons and the answer."""
    walk = given_walk(node)
    skb = given_skb(walk, what, "wan")
    outcome = drive(walk, skb, paths.RECEIVE)
    return outcome, [step.reason for step in walk.trace.steps], skb.answer


def test_a_hop_costs_one_of_the_ttl() -> None:
    """A forwarded packet leaves with a TTL one less, and FORWARD sees it so."""
    node = given(given_rules("FORWARD -m ttl --ttl-eq 4 -j ACCEPT", "FORWARD -j DROP"))
    outcome, _, _ = send(node, packet("203.0.113.5", "10.1.0.5", ttl=5))

    assert 4 == (outcome.packet.ttl if isinstance(outcome, Transmitted) else 0)


def test_what_a_proxy_was_given_is_not_forwarded() -> None:
    """Not even where its TTL would end here."""
    walk = given_walk(given())
    skb = given_skb(walk, packet("203.0.113.5", "10.1.0.5", ttl=1), "wan")
    skb.given = GivenSocket.LISTENER
    outcome = check_forward(walk, skb)

    assert isinstance(outcome, Dropped)
    assert [GivenToSocket()] == [step.reason for step in walk.trace.steps]


def test_the_ttl_ends_before_forward() -> None:
    """A packet whose TTL ends is refused before FORWARD sees it, and its sender is told."""
    outcome, reasons, answer = send(
        given(given_rules("FORWARD -j DROP")), packet("203.0.113.5", "10.1.0.5", ttl=1)
    )

    assert Rejected(netns="host", reason="IP_INHDR", answer="icmp-ttl-exceeded") == outcome
    assert (TtlExceeded(1), (11, 0)) == (
        reasons[-1],
        (answer.icmp_type, answer.icmp_code) if answer else (),
    )


@pytest.mark.parametrize(
    ("length", "fragments", "kind"),
    [(1401, False, Rejected), (1400, False, Transmitted), (1401, True, Transmitted)],
)
def test_the_mtu_of_the_route_counts_before_forward(
    length: int,
    fragments: bool,  # noqa: FBT001
    kind: type,
) -> None:
    """What is too big is refused with "fragmentation needed"; what may be fragmented goes
    in fragments.
    """
    node = given(given_rules("FORWARD -j ACCEPT"))
    outcome, reasons, _ = send(
        node, packet("203.0.113.5", "10.1.0.5", length=length, dont_fragment=not fragments)
    )

    assert kind is type(outcome)
    if isinstance(outcome, Rejected):
        assert ("PKT_TOO_BIG", "icmp-frag-needed") == (outcome.reason, outcome.answer)
    assert fragments is (Fragmented(1401, 2, 1396) in reasons)


@pytest.mark.parametrize(("value", "told"), [("1", True), ("0", False)])
def test_a_shorter_way_is_told(value: str, told: bool) -> None:  # noqa: FBT001
    """A packet that goes back out of where it came in has its sender told of the next hop, if that
    is a neighbour.
    """
    _, reasons, _ = send(given(send_redirects=value), packet("192.0.2.7", "10.2.0.5"))

    assert told == any(isinstance(reason, RedirectSent) for reason in reasons)


def test_a_frame_to_a_group_is_not_forwarded() -> None:
    """A unicast packet in a broadcast frame is not sent on."""
    outcome, reasons, _ = send(given(), packet("203.0.113.5", "10.1.0.5", dmac="ff:ff:ff:ff:ff:ff"))

    assert (Dropped, NotForOneHost(PacketType.BROADCAST)) == (type(outcome), reasons[-1])


def test_an_error_is_not_answered_with_an_error() -> None:
    """About an ICMP error no ICMP error is sent."""
    error = packet(
        "203.0.113.5", "10.1.0.5", protocol=1, sport=0, dport=0, icmp_type=3, icmp_code=1, ttl=1
    )

    assert Dropped is type(send(given(), error)[0])
