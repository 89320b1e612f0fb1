"""A way with its packets told apart."""

from __future__ import annotations

from podpath_capture.journeys.followed import follow_way
from podpath_capture.matching.matching import match_captures
from tests.capture.planted import START, Ends, Hop, World
from tests.capture.planted_talk import Talker


def test_every_packet_of_a_way_is_followed() -> None:
    """Times are put on one line, numbers count from the initial one, and further points show
    nothing.
    """
    hops = [
        Hop(name=f"p{at}", host=at, offset=at * 10**10, delay=300_000, routed=True, whole=not at)
        for at in range(2)
    ]
    world = World(1, hops, loss=0.0)
    talker = Talker(world, Ends("10.0.0.1", 500, "10.0.0.2", 80), START)
    talker.open()
    talker.talk(forward=True, size=4000)
    matching = match_captures(sorted(world.files(), key=lambda file: file.name))
    followed = follow_way(matching, 0, 1, every=True)

    assert (talker.isn[True], 2, 3) == (followed.base, len(followed.placed), len(followed.segments))
    assert [(1, 1449), (1449, 2897), (2897, 4001)] == [
        item[1:] for item in followed.items if item.begin != item.end
    ]
    assert {(True, True, False)} == {
        tuple(row >= 0 for row in item.rows) for item in followed.items
    }
    apart = abs(int(followed.segments[0].time[0]) - int(followed.segments[1].time[0]))
    assert apart <= followed.spread[1] + 100_000
    assert () == follow_way(matching, 0).items
