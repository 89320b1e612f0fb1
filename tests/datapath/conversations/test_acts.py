"""Tests of the packets that two ends send each other."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.acts import first_packet, make_packet, script_of, usual_script
from podpath.net import protocols
from podpath.testing.nodes import ip, probe


def test_tcp_opens_before_it_sends() -> None:
    """A handshake, data both ways, and then what fills the MTU of its ends."""
    acts = usual_script(probe("tcp 10.0.0.1 > 10.0.0.2:80"))

    assert ["SYN", "SYN-ACK", "ACK", "data", "data reply", "full data", "full data reply"] == [
        act.name for act in acts
    ]
    assert [False, True, False, False, True, False, True] == [act.reply for act in acts]


def test_each_end_acknowledges_what_it_got() -> None:
    """A number of a later packet is where the packets before it of the same end came to."""
    _, _, opened, data, reply = script_of(protocols.TCP)

    assert (1, 1) == (opened.seq, opened.ack) == (data.seq, data.ack)
    assert data.seq + data.payload == reply.ack


def test_a_probe_may_ask_for_other_packets() -> None:
    """A segment with given flags is sent alone; a connection that stands already sends data."""
    alone = usual_script(probe("tcp 10.0.0.1 > 10.0.0.2:80 flags rst,ack"))
    midway = usual_script(probe("tcp 10.0.0.1 > 10.0.0.2:80 midway"))

    assert [protocols.RST | protocols.ACK] == [act.flags for act in alone]
    assert ["data", "data reply"] == [act.name for act in midway if not act.full]


def test_another_protocol_is_asked_and_answers_like_udp() -> None:
    """A request and a reply, whatever is in them."""
    assert script_of(protocols.UDP) == script_of(200)


@pytest.mark.parametrize(
    ("text", "ports", "length"),
    [
        ("tcp 10.0.0.1 > 10.0.0.2:80", (80,), 60),
        ("tcp fd00::1 > [fd00::2]:80", (80,), 80),
        ("udp 10.0.0.1 > 10.0.0.2:53", (53,), 128),
        ("udp fd00::1 > [fd00::2]:53", (53,), 148),
        ("icmp 10.0.0.1 > 10.0.0.2", (), 84),
        ("icmp fd00::1 > fd00::2", (), 104),
    ],
)
def test_a_packet_is_as_long_as_linux_makes_it(
    text: str, ports: tuple[int, ...], length: int
) -> None:
    """With the headers of its family, a SYN's options and the data; an echo's ID is both ports."""
    asked = probe(text)
    packet = first_packet(asked, usual_script(asked)[0])

    assert length == packet.length
    assert packet.dport == (ports[0] if ports else packet.sport)


def test_an_act_is_a_packet_between_any_two_ends() -> None:
    """Its flags, numbers and data are the act's; its addresses those that are given."""
    data = script_of(protocols.TCP)[3]
    packet = make_packet(protocols.TCP, data, (ip("10.0.0.2"), 80), (ip("10.0.0.1"), 4000))

    assert ("10.0.0.2", 80, "10.0.0.1", 4000) == (
        str(packet.src),
        packet.sport,
        str(packet.dst),
        packet.dport,
    )
    assert (data.flags, data.seq, data.ack, data.payload) == (
        packet.flags,
        packet.seq,
        packet.ack,
        packet.payload,
    )
