"""Connections laid out in columns and rows."""

from __future__ import annotations

import struct

from podpath_capture.journeys.ladders import lay_out
from podpath_capture.matching.matching import match_captures
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames
from tests.capture.ladder_worlds import laid_out
from tests.capture.planted import (
    ACK,
    SECOND,
    START,
    SYN,
    Ends,
    Hop,
    Packet,
    Shot,
    World,
    write_pcap,
)
from tests.capture.planted_talk import Talker


def test_columns_are_the_points_in_the_order_of_the_client() -> None:
    """Each column has the ends that its point shows; each row the packets' numbers; losses lie
    between columns.
    """
    ladder = laid_out()
    posts, steps = ladder.posts, ladder.steps

    assert ["pod1.pcap", "cni0.pcap", "eth0.pcap", "node2.pcap"] == [post.name for post in posts]
    assert [80, 8080, 8080, 8080] == [post.ends.dport for post in posts if post.ends]
    assert [False, False, True, True] == [post.tunnel is not None for post in posts]
    assert ((3, 2, "SYN-ACK"),) == steps[1].lost
    assert ((2, 3, "data 2897:4345"),) == steps[4].lost
    assert ((0, 1, "FIN"),) == steps[5].lost
    assert 0 == steps[0].time


def cooked(ifindex: int, kind: int, packet: bytes) -> bytes:
    """Make a packet of a capture on `any`."""
    return struct.pack(">HHIHBB8s", 0x0800, 0, ifindex, 1, kind, 6, frames.MAC_A) + packet


def test_both_directions_of_a_device_are_one_column() -> None:
    """A hairpin passes a device twice: before and behind NAT are two columns, for both ways."""

    def syn(service: str) -> bytes:
        return frames.ipv4(6, frames.tcp(SYN, numbers=(500, 0)), ends=("10.0.0.1", service))

    def answer(service: str) -> bytes:
        return frames.ipv4(
            6,
            frames.tcp(SYN | ACK, ports=(80, 40000), numbers=(900, 501)),
            ends=(service, "10.0.0.1"),
        )

    service, pod = "10.96.0.1", "10.0.0.2"
    packets = [
        cooked(3, 0, syn(service)),
        cooked(3, 4, syn(pod)),
        cooked(3, 0, answer(pod)),
        cooked(3, 4, answer(service)),
    ]
    data = write_pcap(
        [Shot(START + at * 1000, packet) for at, packet in enumerate(packets)], link_type=276
    )
    ladder = lay_out(
        match_captures([CapturedFile(name="any", capture=read_capture(data), devices={3: "cni0"})]),
        0,
    )

    assert ["any cni0", "any cni0"] == [post.name for post in ladder.posts]
    assert [service, pod] == [str(post.ends.dst) for post in ladder.posts if post.ends]
    assert [((1,), (2,)), ((4,), (3,))] == [step.packets for step in ladder.steps]


def test_a_point_that_only_the_way_back_passes() -> None:
    """Its column stands where the way back passes it."""
    world = World(
        1,
        [
            Hop(name=f"p{at}", host=0, offset=0, delay=3000, routed=False, whole=False)
            for at in range(3)
        ],
        loss=0.0,
    )
    Talker(world, Ends("10.0.0.1", 500, "10.0.0.2", 80), START).open()
    order = sorted(world.shots[1], key=lambda shot: shot.time)
    world.shots[1] = order[1:2]
    ladder = lay_out(match_captures(world.files()), 0)

    assert ["p0", "p1", "p2"] == [post.name for post in ladder.posts]
    assert [True, False, True] == [bool(step.packets[1]) is False for step in ladder.steps]


def test_a_point_that_never_saw_what_was_lost() -> None:
    """The point that a packet did not come to has a column, though it shows nothing of the
    connection.
    """
    world = World(
        1,
        [
            Hop(name=f"p{at}", host=0, offset=0, delay=3000, routed=False, whole=False)
            for at in range(2)
        ],
        loss=0.0,
    )
    for at in (0, 20):
        Talker(world, Ends("10.0.0.1", 500 + at, "10.0.0.2", 80), START + at * SECOND).open()
    world.send(
        [Packet(6, forward=True, flags=SYN, seq=7, ident=9)],
        Ends("10.0.0.1", 600, "10.0.0.2", 80),
        START + 9 * SECOND,
        cut_at=1,
    )
    matching = match_captures(sorted(world.files(), key=lambda file: file.name))
    ladder = lay_out(matching, 1)

    assert [("p0", True), ("p1", False)] == [
        (post.name, post.ends is not None) for post in ladder.posts
    ]
    assert [((0, 1, "SYN"),)] == [step.lost for step in ladder.steps]
