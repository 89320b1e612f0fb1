"""What captures say by themselves: points, connections, and what forbids the all-clear."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.diagnosis.capture_answer import (
    CaptureAnswer,
    ConnectionsFail,
    ConnectionSummary,
    NoPacket,
    PacketsDropped,
    PacketsRefused,
    RequestsUnanswered,
    answer_captures,
    list_points,
)
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.net.provenance import Source, Span
from podpath.node.case import CapturedPoint, Case, Sighting
from podpath.testing.nodes import given_netns, given_node, ip
from tests.diagnosis.scenes import ACK, SYN, SYN_ACK, frame

CLIENT, SERVER = "10.0.0.1:1024", "10.0.0.2:80"
RST = protocols.RST | protocols.ACK


def seen(text: str, flags: int, where: str, *, at: float | None, file: str = "a.txt") -> Sighting:
    """See a frame at a time, in a file."""
    made = frame(text, flags, where)
    line = f"{at} {where} {text} {flags}"
    return replace(made, time=at, span=Span(Source(name=file, lines=(line,)), 1, 1))


def handshake(link: str = "eth0", begin: float | None = 1.0) -> tuple[Sighting, ...]:
    """See a connection open."""
    words = ((f"{CLIENT} > {SERVER}", SYN), (f"{SERVER} > {CLIENT}", SYN_ACK))
    later = [None if begin is None else begin + step for step in range(3)]
    opening = [
        seen(text, flags, f"in {link}", at=at)
        for (text, flags), at in zip(words, later, strict=False)
    ]
    return (*opening, seen(f"{CLIENT} > {SERVER}", ACK, f"in {link}", at=later[2]))


def answered(*sightings: Sighting, points: tuple[CapturedPoint, ...] = ()) -> CaptureAnswer:
    """Return what captures say."""
    return answer_captures(Case(node=given_node(given_netns("host")), sightings=sightings), points)


def point(name: str, packets: int = 1, dropped: int = 0) -> CapturedPoint:
    """Make a point of a binary capture."""
    return CapturedPoint(name=name, packets=packets, first=None, last=None, dropped=dropped)


def test_a_connection_that_works_is_no_reason_for_anything() -> None:
    """It is listed with its words, its way, its packets and its first time."""
    frames = handshake()
    answer = answered(*frames)
    (connection,) = answer.connections

    assert ("none", 0, ()) == (answer.verdict, answer.exit_code, answer.forbids)
    assert (f"tcp {CLIENT} > {SERVER}", 3, 1.0, False) == (
        connection.words,
        connection.packets,
        connection.first,
        connection.fails,
    )
    assert frames[0].span == connection.span
    assert {connection.state: 1} == answer.states


def test_a_connection_that_fails_forbids_the_all_clear() -> None:
    """It is listed before those that work, and quoted by its first packet; a refusal is a fault."""
    refused = (
        seen("10.0.0.7:9 > 10.0.0.3:81", SYN, "in eth0", at=9.0),
        seen("10.0.0.3:81 > 10.0.0.7:9", RST, "out eth0", at=9.1),
    )
    answer = answered(*handshake(), *refused)
    failing = [each for each in answer.forbids if isinstance(each, ConnectionsFail)]

    assert [True, False] == [each.fails for each in answer.connections]
    assert [(refused[0].span,)] == [each.spans for each in failing]
    assert ("fault", 1) == (answer.verdict, answer.exit_code)
    assert ["connections-refused"] == [finding.check for finding in answer.findings]


def test_a_syn_alone_is_undecided() -> None:
    """No known fault says why it fails."""
    answer = answered(*handshake(), seen("10.0.0.7:9 > 10.0.0.3:81", SYN, "in eth0", at=9.0))

    assert ("undecided", 3) == (answer.verdict, answer.exit_code)


def test_a_reset_that_closes_is_no_failure() -> None:
    """Behind a FIN, or of a client that has its answer; any other reset of what stands is one."""
    reset = seen(f"{CLIENT} > {SERVER}", RST, "in eth0", at=9.0)
    ended = seen(f"{CLIENT} > {SERVER}", protocols.FIN | protocols.ACK, "in eth0", at=8.0)
    dropped = seen(f"{SERVER} > {CLIENT}", RST, "in eth0", at=9.0)

    assert [False] == [one.fails for one in answered(*handshake(), ended, reset).connections]
    assert [False] == [one.fails for one in answered(*handshake(), reset).connections]
    assert [True] == [one.fails for one in answered(*handshake(), dropped).connections]


def test_states_of_a_long_capture_count_what_is_not_listed() -> None:
    """Connections that fail forbid the all-clear though none of them is shown."""
    case = Case(node=given_node(given_netns("host")), sightings=handshake())
    answer = answer_captures(case, (point("a.pcap", 9000),), {"SF": 90, "S0": 7, "RSTO": 3})
    (failing,) = answer.forbids

    assert isinstance(failing, ConnectionsFail)
    assert (7, 100) == (failing.count, failing.asked) == answer.failing
    assert "undecided" == answer.verdict


def test_what_is_no_tcp_is_answered_or_not() -> None:
    """It has no state, comes after TCP, and never counts as failing."""
    request = Packet(ip("10.0.0.1"), ip("10.0.0.2"), protocols.UDP, 1024, 53, length=60)
    reply = Packet(ip("10.0.0.2"), ip("10.0.0.1"), protocols.UDP, 53, 1024, length=60)
    first, second = (
        replace(seen(f"{CLIENT} > {SERVER}", 0, "in eth0", at=at), packet=packet)
        for at, packet in ((0.1, request), (0.2, reply))
    )
    alone, both = answered(first, *handshake()), answered(first, second, *handshake())

    assert [("", "one direction alone", False)] == [
        described(each) for each in alone.connections[1:]
    ]
    assert [("", "answered", False)] == [described(each) for each in both.connections[1:]]
    assert 1 == sum(alone.states.values())


def lookup(client: str, server: str, at: float, *, back: bool = False) -> Sighting:
    """See a name lookup, or its answer."""
    names = Packet(ip(client), ip(server), protocols.UDP, 1024, 53, length=60)
    if back:
        names = Packet(ip(server), ip(client), protocols.UDP, 53, 1024, length=60)
    return replace(seen(f"{client}:1 > {server}:53", 0, "in eth0", at=at), packet=names)


def test_a_lookup_without_an_answer_is_no_all_clear() -> None:
    """However soon the capture ends: nobody has seen the server answer."""
    answer = answered(
        *handshake(), lookup("10.0.0.1", "10.0.0.2", 3.0), lookup("10.0.0.3", "10.0.0.2", 3.1)
    )
    (silent,) = answer.forbids

    assert isinstance(silent, RequestsUnanswered)
    assert ("udp 10.0.0.1:1024 > 10.0.0.2:53", "udp 10.0.0.3:1024 > 10.0.0.2:53") == silent.requests
    assert "10.0.0.1:1 > 10.0.0.2" in silent.spans[0].text
    assert ("undecided", 3) == (answer.verdict, answer.exit_code)


def test_the_last_lookup_of_a_server_that_answers_is_under_way() -> None:
    """A capture ends somewhere."""
    answer = answered(
        lookup("10.0.0.1", "10.0.0.2", 2.0),
        lookup("10.0.0.1", "10.0.0.2", 2.1, back=True),
        lookup("10.0.0.3", "10.0.0.2", 3.1),
    )

    assert "none" == answer.verdict


def refusal(of: Packet, at: float) -> Sighting:
    """See an ICMP error: nobody listens on the port."""
    error = Packet(of.dst, of.src, protocols.ICMP, icmp_type=3, icmp_code=3, length=88, quoted=of)
    return replace(seen(f"{of.dst}:1 > {of.src}:1", 0, "in eth0", at=at), packet=error)


def test_a_server_that_refuses_is_no_all_clear_though_it_answers_later() -> None:
    """Nobody listened for a while; a client that refuses a late answer has its answer."""
    asked, reply = (
        lookup("10.0.0.1", "10.0.0.2", 2.0),
        lookup("10.0.0.1", "10.0.0.2", 2.2, back=True),
    )
    refused = answered(asked, refusal(asked.packet, 2.1), reply)
    late = answered(asked, reply, refusal(reply.packet, 2.3))

    assert [PacketsRefused] == [type(each) for each in refused.forbids]
    assert () == late.forbids


def described(each: ConnectionSummary) -> tuple[str, str, bool]:
    """Return how a connection went."""
    return each.state, each.meaning, each.fails


def test_each_device_of_each_file_is_a_point() -> None:
    """With how many packets it shows, from when to when."""
    eth0, eth1 = handshake("eth0"), handshake("eth1", 5.0)
    other = seen(f"{CLIENT} > {SERVER}", SYN, "in eth0", at=0.5, file="b.txt")
    case = Case(node=given_node(given_netns("host")), sightings=(*eth0, *eth1, other))
    found = [
        (file, each.name, each.packets, each.first, each.last) for file, each in list_points(case)
    ]

    assert [
        ("a.txt", "a.txt eth0", 3, 1.0, 3.0),
        ("a.txt", "a.txt eth1", 3, 5.0, 7.0),
        ("b.txt", "b.txt eth0", 1, 0.5, 0.5),
    ] == found
    assert [eth0[0].span, eth1[0].span, other.span] == [each.span for _, each in list_points(case)]


def test_a_capture_without_times_or_devices_is_a_point_too() -> None:
    """It is named after its file alone."""
    timeless = tuple(replace(each, link=None) for each in handshake(begin=None))
    case = Case(node=given_node(given_netns("host")), sightings=timeless)
    ((_, found),) = list_points(case)

    assert ("a.txt", None, None) == (found.name, found.first, found.last)


def test_points_that_the_packets_told_replace_those_of_their_file() -> None:
    """By the file's name; other files keep theirs."""
    other = seen(f"{CLIENT} > {SERVER}", SYN, "in eth0", at=0.5, file="captures/b.txt")
    told = point("a.txt eth0 in", 3)

    assert ["a.txt eth0 in", "captures/b.txt eth0"] == [
        each.name for each in answered(*handshake(), other, points=(told,)).points
    ]
    assert ["b.txt eth0"] == [
        each.name for each in answered(other, points=(point("b.txt eth0"),)).points
    ]


@pytest.mark.parametrize(("packets", "empty"), [(0, True), (1, False)])
def test_captures_without_a_packet_show_nothing(packets: int, *, empty: bool) -> None:
    """A point with none is no all-clear."""
    answer = answered(points=(point("a.pcap", packets),))

    assert empty == any(isinstance(each, NoPacket) for each in answer.forbids)
    assert ("undecided" if empty else "none") == answer.verdict


def test_packets_that_the_kernel_dropped_are_missing() -> None:
    """The points where it did are named."""
    quoted = replace(point("a.pcap", dropped=2), span=handshake()[0].span)
    answer = answered(*handshake(), points=(quoted, point("b.pcap"), point("c.pcap", dropped=1)))
    (dropped,) = [each for each in answer.forbids if isinstance(each, PacketsDropped)]

    assert ["a.pcap", "c.pcap"] == [each.name for each in dropped.points]
    assert (quoted.span,) == dropped.spans
