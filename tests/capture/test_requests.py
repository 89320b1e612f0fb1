"""Requests of one flow are told apart by the numbers that their answers repeat."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.capture.connections import CapturedFlow, gather_flows
from podpath.capture.requests import list_numbers, list_unheard, number_of
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.node.case import Sighting
from tests.capture.made_frames import A, B, frame


def lookup(at: float, number: int, *, back: bool = False) -> Sighting:
    """Make a frame of a DNS message, from A's port 4000 or to it."""
    ends = (B, A, protocols.UDP, 53, 4000) if back else (A, B, protocols.UDP, 4000, 53)
    return replace(frame(at, 0), packet=Packet(*ends, query=number))


def flow_of(*frames: Sighting) -> CapturedFlow[Sighting]:
    """Gather the one flow of some frames."""
    (flow,) = gather_flows(frames)
    return flow


@pytest.mark.parametrize(
    ("packet", "number"),
    [
        (Packet(A, B, protocols.UDP, 4000, 53, query=7), 7),
        (Packet(A, B, protocols.UDP, 4000, 53), None),
        (Packet(A, B, protocols.ICMP, icmp_type=8, seq=0), 0),
        (Packet(A, B, protocols.ICMP, icmp_type=3), None),
        (Packet(A, B, protocols.TCP, 4000, 53, seq=7), None),
    ],
)
def test_dns_messages_and_echoes_have_numbers(packet: Packet, number: int | None) -> None:
    """A DNS message whose header was cut off has none, and an echo's may be 0."""
    assert number == number_of(packet)


def test_numbers_of_one_direction_are_listed() -> None:
    """Each once."""
    flow = flow_of(lookup(0, 1), lookup(1, 2), lookup(2, 2), lookup(3, 1, back=True))

    assert {1, 2} == list_numbers(flow.forward)
    assert {1} == list_numbers(flow.backward)


def test_request_is_unheard_when_the_capture_goes_on_or_it_is_repeated() -> None:
    """And where others of its flow are answered; once for all times that it was sent."""
    answered = (lookup(0, 1), lookup(0.1, 1, back=True))
    waiting, again = lookup(1, 2), lookup(6, 2)
    flow = flow_of(*answered, waiting)

    assert [waiting] == list_unheard(flow, 3.0, lossy=False)
    assert [] == list_unheard(flow, 2.9, lossy=False)
    assert [] == list_unheard(flow, 9.0, lossy=True)
    assert [waiting] == list_unheard(flow_of(*answered, waiting, again), 6.0, lossy=True)
    assert [] == list_unheard(flow_of(waiting), 9.0, lossy=False)


def test_answer_without_a_number_may_be_of_any_request() -> None:
    """A snap length cut it off."""
    flow = flow_of(lookup(0, 1), lookup(0.1, 1, back=True), lookup(1, 2), lookup(1.1, 0, back=True))

    assert [] == list_unheard(flow, 9.0, lossy=False)
