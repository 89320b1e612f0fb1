"""Frames put together to what is said between two ends, at each point."""

from __future__ import annotations

from podpath.capture.observations import (
    Point,
    clock,
    counted,
    gather_connections,
    gather_talks,
    is_acknowledged,
    is_error,
    repeated_data,
    seconds_between,
    times_sent,
)
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Source, Span
from podpath.node.case import Sighting

A, B = Address.parse("10.1.0.1"), Address.parse("10.1.0.2")
SYN, ACK, RST, PSH = protocols.SYN, protocols.ACK, protocols.RST, protocols.PSH
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


def test_client_is_who_opens() -> None:
    """The end that sends the SYN is the client, also where the other one was seen first."""
    (talk,) = gather_talks(
        [frame(0, ACK, back=True), frame(1, SYN, 7), frame(2, SYN | ACK, 9, 8, back=True)]
    )

    assert ((A, 4000), (B, 80)) == (talk.client, talk.server)
    assert (1, 2) == (len(talk.forward), len(talk.backward))
    assert "tcp 10.1.0.1:4000 > 10.1.0.2:80" == talk.words


def test_without_a_beginning_the_lower_port_is_the_server() -> None:
    """Mid-stream the port tells who serves, whoever is seen first."""
    (talk,) = gather_talks([frame(0, ACK, 5, 6, back=True), frame(1, ACK, 6, 5)])

    assert ((A, 4000), False) == (talk.client, talk.opened)


def test_reused_port_is_another_connection() -> None:
    """A SYN with another number begins anew; the same number is sent again."""
    talks = gather_talks([frame(0, SYN, 7), frame(1, SYN, 7), frame(90, SYN, 4_000_000)])

    assert [2, 1] == [len(talk.syns) for talk in talks]


def test_points_are_told_apart_and_joined_by_the_syn() -> None:
    """Each device shows a talk of its own; the number of the SYN makes them one connection, nearest
    point first.
    """
    talks = gather_talks(
        [
            frame(0.2, SYN, 7, link="eth0"),
            frame(0.1, SYN, 7, link="veth1"),
            frame(5, SYN, 99, port=4001),
        ]
    )
    connections = gather_connections(talks)

    assert [2, 1] == [len(connection.talks) for connection in connections]
    assert "veth1" == connections[0].start.point.link
    assert ["veth1 in netns pod", "eth0"] == [
        str(Point(0, "pod", "veth1")),
        str(Point(0, "host", "eth0")),
    ]


def test_copies_are_not_times_sent() -> None:
    """What is seen twice within a moment was sent once; without times three lines are three."""
    assert 2 == len(times_sent([frame(0, SYN, 7), frame(0.001, SYN, 7), frame(1, SYN, 7)]))
    assert 1 == len(times_sent([frame(None, SYN, 7)] * 2))
    assert 3 == len(times_sent([frame(None, SYN, 7)] * 3))


def test_data_is_acknowledged_whichever_way_numbers_are_printed() -> None:
    """The first acknowledgement may be printed as it is on the wire, data relative to the SYN."""
    opening = [frame(0, SYN, 4_000_000_000), frame(0.1, SYN | ACK, 70, 4_000_000_001, back=True)]
    data = frame(0.2, PSH | ACK, 1, 1, 80)
    on_the_wire, relative, short = (
        frame(0.3, ACK, 0, number, back=True) for number in (4_000_000_081, 81, 80)
    )

    for answer, expected in ((on_the_wire, True), (relative, True), (short, False)):
        (talk,) = gather_talks([*opening, data, answer])
        assert is_acknowledged(talk, data) == expected


def test_numbers_count_from_the_syn() -> None:
    """A number as on the wire gives the distance; a relative one stays."""
    assert [16, 5, 5] == [counted(916, 900), counted(5, 900), counted(5, None)]


def test_repeated_data_are_segments_sent_anew() -> None:
    """A segment that comes a second time later was sent again; its copies are together."""
    frames = [
        frame(0, PSH | ACK, 1, 1, 80),
        frame(0.3, PSH | ACK, 1, 1, 80),
        frame(0.4, PSH | ACK, 81, 1, 80),
    ]

    assert [2] == [len(copies) for copies in repeated_data(frames)]


def test_errors_and_times() -> None:
    """An ICMP error is told by its type; times are spelled with microseconds."""
    error = Packet(B, A, protocols.ICMP, icmp_type=3)

    assert is_error(error)
    assert not is_error(error._replace(icmp_type=8))
    assert "15:38:52.862377" == clock(56332.862377)
    assert seconds_between(frame(1, ACK), frame(3.5, ACK)) == 2.5
    assert seconds_between(frame(None, ACK), frame(3.5, ACK)) is None
