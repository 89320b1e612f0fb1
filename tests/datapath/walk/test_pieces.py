"""Tests of datagrams that go in fragments."""

from __future__ import annotations

import pytest

from podpath.datapath.walk.pieces import fragments, put_together, send_in_pieces, split
from podpath.datapath.walk.skb import Skb
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.testing.nodes import given_netns

POD, SERVER = Address.parse("10.9.0.2"), Address.parse("192.0.2.2")


def datagram(length: int) -> Skb:
    """Return a UDP datagram under way."""
    packet = Packet(POD, SERVER, 17, 40000, 53, length=length, payload=length - 28)
    return Skb(packet, given_netns("host", "eth0 10.0.0.1/24"))


@pytest.mark.parametrize(
    ("length", "mtu", "lengths"),
    [
        (1500, 1500, ()),
        (2000, 1500, (1500, 520)),
        (2980, 1500, (1500, 1500)),
        (2981, 1500, (1500, 1500, 21)),
        (1401, 1400, (1396, 25)),
    ],
)
def test_fragments_begin_at_a_multiple_of_eight_bytes(
    length: int, mtu: int, lengths: tuple[int, ...]
) -> None:
    """Each has a header of its own, and they carry what the packet does."""
    assert lengths == split(length, mtu)
    assert not lengths or length - 20 == sum(each - 20 for each in lengths)


def test_what_came_in_fragments_goes_in_none_that_are_longer() -> None:
    """Where they were put together in between, and where they were not."""
    skb = datagram(2000)
    send_in_pieces(skb, 1400)
    put_together(skb)
    assert (skb.pieces, skb.longest, skb.frame_length) == ((), 1396, 2000)
    send_in_pieces(skb, 9000)
    assert (skb.pieces, skb.frame_length) == ((1396, 624), 1396)
    send_in_pieces(skb, 1000)
    assert skb.pieces == (996, 420, 624)
    assert not skb.packet.dont_fragment


def test_rules_are_shown_each_fragment_that_differs() -> None:
    """The first alone has ports; the others are told apart by their length."""
    skb = datagram(9000)
    send_in_pieces(skb, 1500)
    assert skb.pieces == (1500,) * 6 + (120,)
    seen = [(each.length, each.fragment) for each in fragments(skb)]
    assert seen == [(1500, False), (1500, True), (120, True)]
