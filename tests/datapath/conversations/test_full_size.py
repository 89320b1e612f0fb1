"""Packets that fill the MTU of their ends."""

from __future__ import annotations

from podpath.datapath.conversations.full_size import fill
from podpath.net.addresses import Address
from podpath.net.packet import Packet

ADDRESS = Address.parse("192.0.2.1")


def test_a_packet_is_filled_and_never_cut() -> None:
    """What is longer already stays as it is."""
    packet = Packet(ADDRESS, ADDRESS, 6, length=52, payload=0)

    assert (fill(packet, 1500).length, fill(packet, 1500).payload) == (1500, 1448)
    assert fill(packet, 40) == packet
