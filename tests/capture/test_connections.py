"""Frames put together to flows and connections."""

from __future__ import annotations

from podpath.capture.connections import gather_traffic, is_forwarded
from podpath.capture.frames import CapturePoint
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Source, Span
from podpath.node.case import Sighting
from tests.capture.made_frames import ACK, PSH, SYN, A, B, frame

SPAN = Span(Source(name="c", lines=("",)), 1, 1)


def seen(time: float | None, src: str, dst: str, *, seq: int = 5, link: str = "a") -> Sighting:
    """Make a SYN by its ends."""
    ends = [text.split(":") for text in (src, dst)]
    (source, sport), (target, dport) = ((Address.parse(host), int(port)) for host, port in ends)
    packet = Packet(source, target, protocols.TCP, sport, dport, flags=SYN, seq=seq)
    return Sighting(packet=packet, span=SPAN, time=time, link=link)


def test_client_is_who_opens() -> None:
    """The end that sends the SYN is the client, also where the other one was seen first."""
    (flow,) = gather_traffic(
        [frame(0, ACK, back=True), frame(1, SYN, 7), frame(2, SYN | ACK, 9, 8, back=True)]
    ).flows

    assert ((A, 4000), (B, 80)) == (flow.client, flow.server)
    assert (1, 2) == (len(flow.forward), len(flow.backward))
    assert "tcp 10.1.0.1:4000 > 10.1.0.2:80" == flow.words


def test_without_a_beginning_the_lower_port_is_the_server() -> None:
    """Mid-stream the port tells who serves, whoever is seen first."""
    (flow,) = gather_traffic([frame(0, ACK, 5, 6, back=True), frame(1, ACK, 6, 5)]).flows

    assert ((A, 4000), False) == (flow.client, flow.opened)


def test_reused_port_is_another_connection() -> None:
    """A SYN with another number begins anew; the same number is sent again."""
    flows = gather_traffic([frame(0, SYN, 7), frame(1, SYN, 7), frame(90, SYN, 4_000_000)]).flows

    assert [2, 1] == [len(flow.syns) for flow in flows]


def test_points_are_told_apart_and_joined_by_the_syn() -> None:
    """Each device shows a flow of its own; the number of the SYN makes them one connection, nearest
    point first.
    """
    connections = gather_traffic(
        [
            frame(0.2, SYN, 7, link="eth0"),
            frame(0.1, SYN, 7, link="veth1"),
            frame(5, SYN, 99, port=4001),
        ]
    ).connections

    assert [2, 1] == [len(connection.flows) for connection in connections]
    assert "veth1" == connections[0].start.point.link
    assert ["veth1 in netns pod", "eth0"] == [
        str(CapturePoint(0, "pod", "veth1")),
        str(CapturePoint(0, "host", "eth0")),
    ]


def test_translated_ends_are_one_connection() -> None:
    """A SYN with its source, its target or both rewritten is the same connection; masquerade may
    change the client's port too.
    """
    first = seen(1.0, "10.0.0.1:1000", "10.0.0.2:80")
    copies = (
        seen(1.001, "10.9.9.9:1000", "10.0.0.2:80", link="b"),
        seen(1.001, "10.0.0.1:1000", "10.0.0.7:8080"),
        seen(1.001, "10.9.9.9:1000", "10.0.0.7:8080", link="b"),
        seen(1.001, "10.9.9.9:61000", "10.0.0.2:80", link="b"),
    )
    for copy in copies:
        (connection,) = gather_traffic([first, copy]).connections
        original, translated = connection.translations
        assert original.syns == [first]
        assert translated.syns == [copy]


def test_what_is_another_connection() -> None:
    """Another number, or another port that is seen later or without a time, is no translation."""
    first = seen(1.0, "10.0.0.1:1000", "10.0.0.2:80")
    for other in (
        seen(1.001, "10.9.9.9:1000", "10.0.0.2:80", seq=6),
        seen(1.5, "10.9.9.9:61000", "10.0.0.2:80"),
        seen(None, "10.9.9.9:61000", "10.0.0.2:80"),
        seen(1.001, "10.0.0.1:61000", "10.0.0.2:80"),
    ):
        assert 2 == len(gather_traffic([first, other]).connections)


def test_datagrams_are_one_connection_by_their_ends() -> None:
    """What is no TCP is joined across the devices of one capture, and not across captures."""
    packet = Packet(A, B, protocols.UDP, 4000, 53, payload=30)
    places = [(0, "eth0"), (0, "veth1"), (1, "eth0")]
    frames = [
        Sighting(packet=packet, span=SPAN, time=0.0, link=link, capture=capture)
        for capture, link in places
    ]

    assert [2, 1] == [len(one.flows) for one in gather_traffic(frames).connections]


def test_forwarded_frames() -> None:
    """A packet is found further on by what it is, within the time that forwarding takes."""
    data, soon, late = (frame(time, PSH | ACK, 1, 1, 80) for time in (0, 0.001, 0.2))

    assert is_forwarded(data, [soon])
    assert not is_forwarded(data, [late])
    assert not is_forwarded(soon, [data])
    assert is_forwarded(data, [frame(None, PSH | ACK, 1, 1, 80)])
    assert not is_forwarded(data, [frame(0.001, ACK, 1, 1)])


def test_data_is_acknowledged_whichever_way_numbers_are_printed() -> None:
    """The first acknowledgement may be printed as it is on the wire, data relative to the SYN."""
    opening = [frame(0, SYN, 4_000_000_000), frame(0.1, SYN | ACK, 70, 4_000_000_001, back=True)]
    data = frame(0.2, PSH | ACK, 1, 1, 80)
    on_the_wire, relative, short = (
        frame(0.3, ACK, 0, number, back=True) for number in (4_000_000_081, 81, 80)
    )

    for answer, expected in ((on_the_wire, True), (relative, True), (short, False)):
        (flow,) = gather_traffic([*opening, data, answer]).flows
        assert flow.acknowledges(data) == expected
