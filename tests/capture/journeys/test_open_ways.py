"""Which ways are looked at closely."""

from __future__ import annotations

from podpath_capture.journeys.open_ways import find_open_ways
from podpath_capture.matching.matching import match_captures
from tests.capture.planted import ACK, SECOND, START, Ends, Hop, Packet, World
from tests.capture.planted_talk import Talker


def test_only_ways_that_differ_are_open() -> None:
    """A connection that all points show alike, however they cut it, is left alone; a direction that
    lacks a packet is not.
    """
    hops = [
        Hop(name=f"p{at}", host=0, offset=0, delay=10_000, routed=False, whole=not at)
        for at in range(2)
    ]
    world = World(1, hops, loss=0.0)
    for number in range(3):
        talker = Talker(
            world, Ends("10.0.0.1", 500 + number, "10.0.0.2", 80), START + number * SECOND
        )
        talker.open()
        talker.talk(forward=True, size=9000)
        if number == 1:
            world.send(
                [talker.packet(forward=False, flags=ACK)], talker.ends, talker.time, cut_at=0
            )
    world.send(
        [Packet(17, forward=True, ident=1, body=b"x")],
        Ends("10.0.0.1", 9, "10.0.0.2", 53),
        START + 9 * SECOND,
    )
    matching = match_captures(sorted(world.files(), key=lambda file: file.name))

    assert [3, 6] == find_open_ways(matching)


def test_nothing_is_open_where_nothing_is() -> None:
    """No captures, no ways."""
    assert [] == find_open_ways(match_captures([]))
