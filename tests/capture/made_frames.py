"""Frames of TCP between two hosts, made for tests."""

from __future__ import annotations

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Source, Span
from podpath.node.case import Sighting

A, B = Address.parse("10.1.0.1"), Address.parse("10.1.0.2")
SYN, ACK, PSH = protocols.SYN, protocols.ACK, protocols.PSH
SOURCE = Source(name="capture.txt", lines=())


def frame(
    time: float | None,
    flags: int,
    *numbers: int,
    back: bool = False,
    port: int = 4000,
    link: str = "eth0",
) -> Sighting:
    """Make a frame of TCP from A to B's port 80, or back, with seq, ack and payload as far as they
    are given.
    """
    seq, ack, payload = (*numbers, *(0,) * (3 - len(numbers)))
    ends = (B, A, protocols.TCP, 80, port) if back else (A, B, protocols.TCP, port, 80)
    packet = Packet(*ends, flags, seq=seq, ack=ack, payload=payload)
    return Sighting(packet=packet, span=Span(SOURCE, 1, 1), time=time, netns="host", link=link)
