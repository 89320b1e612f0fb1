"""A packet as a match sees it, for tests."""

from __future__ import annotations

from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.xtables.extension import Condition, OptionMeaning

PACKET = Packet(
    Address.parse("10.244.0.5"), Address.parse("198.51.100.7"), protocols.TCP, 40000, 80
)


class FakePacket(NamedTuple):
    """What a match may look at."""

    packet: Packet = PACKET
    mark: int = 0
    pkt_type: str = "host"


def read(option: OptionMeaning, text: str) -> Condition:
    """Read an option that the packet alone decides."""
    assert option.read is not None
    return option.read(text)
