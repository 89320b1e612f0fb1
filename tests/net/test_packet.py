"""A packet spells itself so that a person sees who speaks to whom."""

from __future__ import annotations

import pytest

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet, endpoint

A, B = Address.parse("10.0.0.1"), Address.parse("10.0.0.2")


@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        (
            Packet(A, B, protocols.TCP, 4000, 80, protocols.SYN | protocols.ACK),
            "tcp 10.0.0.1:4000 > 10.0.0.2:80 [SYN,ACK]",
        ),
        (Packet(A, B, protocols.UDP, 4000, 53), "udp 10.0.0.1:4000 > 10.0.0.2:53"),
        (Packet(A, B, protocols.ICMP, icmp_type=8), "icmp 10.0.0.1 > 10.0.0.2 type 8 code 0"),
        (Packet(A, B, protocols.TCP, fragment=True), "tcp 10.0.0.1 > 10.0.0.2"),
        (Packet(A, B, 89), "ospf 10.0.0.1 > 10.0.0.2"),
        (Packet(A, B, 200), "200 10.0.0.1 > 10.0.0.2"),
    ],
)
def test_a_packet_spells_its_ends(packet: Packet, expected: str) -> None:
    """Ports stand where the protocol has them, flags for TCP, type and code for ICMP."""
    assert str(packet) == expected


def test_the_family_is_the_destinations() -> None:
    """IPv4 and IPv6 packets are of one type."""
    one = Address.parse("fd00::1")

    assert (Packet(A, B, protocols.TCP).family, Packet(one, one, protocols.TCP).family) == (4, 6)


def test_an_ipv6_endpoint_stands_in_brackets() -> None:
    """The port is told from the address."""
    assert endpoint(Address.parse("fd00::1"), 80) == "[fd00::1]:80"
