"""Captures that make no sense: whatever they hold, matching them ends, and what it says names
packets that are there.
"""

from __future__ import annotations

import random
import struct

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from podpath.report.ladder import render_ladder
from podpath.report.ladder_svg import render_ladder_svg
from podpath.report.style import Style
from podpath_capture.files.file import as_bytes
from podpath_capture.journeys.journeys import follow_packets
from podpath_capture.journeys.ladders import lay_out
from podpath_capture.journeys.losses import find_losses
from podpath_capture.matching.matching import Matching, match_captures
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames
from tests.capture.planted import START, Hop, Shot, World, write_pcap
from tests.capture.planted_talk import populate

ENDS = ("10.0.0.1", "10.0.0.2", "10.96.0.9")
FLAGS = (0x02, 0x12, 0x10, 0x18, 0x11, 0x04, 0x14, 0x00, 0xFF)
FEW = st.integers(0, 3)


@st.composite
def soups(draw: st.DrawFn) -> bytes:
    """Make an IP packet of few different values, so that packets collide in every way."""
    ends = (draw(st.sampled_from(ENDS)), draw(st.sampled_from(ENDS)))
    ports = (80 + draw(FEW), 80 + draw(FEW))
    kind = draw(st.sampled_from((6, 6, 6, 17, 1, 132)))
    if kind == 6:
        numbers = (
            draw(st.sampled_from((0, 1, 100, 2**32 - 1, 2**31))),
            draw(st.sampled_from((0, 1, 101, 2**31))),
        )
        body = frames.tcp(
            draw(st.sampled_from(FLAGS)),
            ports=ports,
            numbers=numbers,
            data=bytes(draw(st.sampled_from((0, 1, 99)))),
        )
    elif kind == 17:
        body = frames.udp(ports, bytes(draw(FEW)))
    else:
        body = struct.pack(
            ">BBHHH", draw(st.sampled_from((0, 3, 8))), 0, 0, draw(FEW), draw(FEW)
        ) + bytes(draw(FEW))
    packet = bytearray(
        frames.ipv4(kind, body, ends=ends, fragment=draw(st.sampled_from((0, 0x4000, 0x2000, 5))))
    )
    struct.pack_into(
        ">HHB", packet, 4, draw(FEW), struct.unpack_from(">H", packet, 6)[0], 60 + draw(FEW)
    )
    return bytes(packet)


SHOTS = st.lists(st.tuples(st.integers(0, 5), soups()), max_size=12)


def captured(name: str, shots: list[tuple[int, bytes]], *, cooked: bool) -> CapturedFile:
    """Make a capture of packets at times, which need not be in order."""
    head = (
        (lambda at: struct.pack(">HHIHBB8s", 0x0800, 0, at, 1, at % 5, 6, frames.MAC_A))
        if cooked
        else None
    )
    made = [
        Shot(START + at * 10**8, (head(at) + packet) if head else frames.ethernet(0x0800, packet))
        for at, packet in shots
    ]
    data = write_pcap(made, link_type=276 if cooked else 1)
    return CapturedFile(name=name, capture=read_capture(data), data=as_bytes(data))


def look(matching: Matching) -> None:
    """Ask everything that can be asked, and see that every packet that is named is there."""
    sizes = {file.name: len(file.capture.packets) for file in matching.joined.files}
    losses = find_losses(matching)
    for loss in losses.lost:
        assert all(
            1 <= seen.number <= sizes[seen.file] for seen in (*loss.seen, loss.before, loss.after)
        )
        assert matching.points[loss.missing_at].file in sizes
    for number, connection in enumerate(matching):
        ways = (connection.forward.passages, connection.backward.passages)
        assert sum(passage.packets for way in ways for passage in way) == sum(
            matching.numbers(name).count(number) for name in sizes
        )
        assert follow_packets(matching, number)
        ladder = lay_out(matching, number)
        assert render_ladder(ladder, Style())
        assert render_ladder_svg(ladder)


@settings(max_examples=60)
@given(st.lists(st.tuples(SHOTS, st.booleans()), min_size=1, max_size=3))
def test_any_packets_are_matched(soup: list[tuple[list[tuple[int, bytes]], bool]]) -> None:
    """Equal numbers, nonsense flags, fragments, times out of order, empty captures: nothing
    raises.
    """
    look(
        match_captures(
            [captured(f"f{at}", shots, cooked=cooked) for at, (shots, cooked) in enumerate(soup)]
        )
    )


def test_an_empty_capture_beside_others() -> None:
    """A file without packets has no point, and disturbs nothing."""
    world = populate(World(3), 3)
    files = world.files()
    empty = CapturedFile(name="empty", capture=read_capture(frames.pcap([])))
    told = [
        len(find_losses(match_captures(some)).lost)
        for some in (files, [empty, *files], [*files, empty])
    ]

    assert 1 == len(set(told))


def test_packets_without_times() -> None:
    """Simple packet blocks have no time: order and losses are what they can be."""
    world = populate(World(3), 3)
    stopped = [[Shot(0, shot.frame) for shot in shots] for shots in world.shots]
    world.shots = stopped
    look(match_captures(world.files()))


def test_cooked_captures_of_the_older_kind() -> None:
    """A capture on `any` that does not name devices repeats each packet: none of the repeats is
    taken for one that was lost.
    """
    hops = [
        Hop(name=f"p{at}", host=0, offset=0, delay=5000, routed=False, whole=False)
        for at in range(2)
    ]
    world = populate(World(4, hops, loss=0.0), 6)
    shots = [
        Shot(
            shot.time + late,
            struct.pack(">HHHH6sHH", way, 1, 6, 0, frames.MAC_A, 0, 0x0800) + shot.frame[14:],
        )
        for shot in world.shots[0]
        for late, way in ((0, 0), (900, 0), (1800, 4), (2700, 4))
    ]
    data = write_pcap(sorted(shots, key=lambda shot: shot.time), link_type=113)
    other = next(file for file in world.files() if file.name == "p1")
    older = CapturedFile(
        name="any", capture=read_capture(data), data=np.frombuffer(data, np.uint8), host="host0"
    )
    losses = find_losses(match_captures([older, other]))

    assert ((), ()) == (losses.lost, losses.unseen)


def test_a_capture_in_any_order() -> None:
    """Packets that a file holds in another order than that of time are matched as well."""
    world = populate(World(11), 6)
    files = []
    for hop, shots in zip(world.hops, world.shots, strict=True):
        mixed = shots[:]
        random.Random(1).shuffle(mixed)
        data = write_pcap(mixed, link_type=276 if hop.cooked else 1)
        files.append(
            CapturedFile(
                name=hop.name,
                capture=read_capture(data),
                data=as_bytes(data),
                host=f"host{hop.host}",
            )
        )
    sizes = sorted(loss.end - loss.begin for loss in find_losses(match_captures(files)).lost)

    assert sorted(size for _, _, _, size in world.lost) == sizes
