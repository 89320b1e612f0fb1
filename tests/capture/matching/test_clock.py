"""Offsets of clocks where they are not simply there."""

from __future__ import annotations

from podpath.capture.sightings import ClockOffset
from podpath_capture.matching.matching import match_captures
from tests.capture.planted import MILLISECOND, SECOND, START, Ends, Hop, Packet, World
from tests.capture.planted_talk import Talker


def two_hosts(offset: int, delay: int = 300_000) -> World:
    """Make a world of two points on two hosts."""
    hops = [
        Hop(name="a", host=0, offset=0, delay=0, routed=False, whole=False),
        Hop(name="b", host=1, offset=offset, delay=delay, routed=True, whole=False),
    ]
    return World(1, hops, loss=0.0)


def test_one_direction_does_not_tell_an_offset() -> None:
    """Without anything that comes back, the offset is not known; the TTL still orders the
    points.
    """
    world = two_hosts(-5 * SECOND)
    ends = Ends("10.0.0.1", 5, "10.0.0.2", 6)
    for number in range(3):
        world.send(
            [Packet(17, forward=True, ident=number + 1, body=bytes([number]))],
            ends,
            START + number * SECOND,
        )
    matching = match_captures(world.files())
    (connection,) = matching

    assert {"host0", "host1"} == {clock.host for clock in matching.clocks}
    assert [0, None] == [clock.nanoseconds for clock in matching.clocks]
    assert ["a", "b"] == [
        matching.points[passage.point].file for passage in connection.forward.passages
    ]


def test_a_clock_that_drifts() -> None:
    """Where connections contradict each other, the middle of what they say is given."""
    world = two_hosts(0)
    for number in range(5):
        world.hops[1] = Hop(
            name="b",
            host=1,
            offset=number * 100 * MILLISECOND,
            delay=300_000,
            routed=True,
            whole=False,
        )
        Talker(
            world, Ends("10.0.0.1", 500 + number, "10.0.0.2", 80), START + number * 10 * SECOND
        ).open()
    files = sorted(world.files(), key=lambda file: file.name)
    (_, found) = match_captures(files).clocks

    assert found.nanoseconds is not None
    assert abs(found.nanoseconds - 200 * MILLISECOND) <= found.within


def test_hosts_that_meet_only_through_a_third() -> None:
    """Offsets add up along points that share connections."""
    world = two_hosts(7 * SECOND)
    world.hops.append(
        Hop(name="c", host=2, offset=-9 * SECOND, delay=200_000, routed=True, whole=False)
    )
    world.shots.append([])
    Talker(world, Ends("10.0.0.1", 500, "10.0.0.2", 80), START).open()
    kept = [list(shots) for shots in world.shots]
    Talker(world, Ends("10.0.0.1", 501, "10.0.0.2", 80), START + SECOND).open()
    world.shots[2] = world.shots[2][len(kept[2]) :]
    world.shots[0] = kept[0]
    offsets: dict[str, ClockOffset] = {
        clock.host: clock for clock in match_captures(world.files()).clocks
    }
    values = {host: offset.nanoseconds for host, offset in offsets.items()}

    assert None not in values.values()
    apart = (values["host2"] or 0) - (values["host0"] or 0)
    assert abs(apart + 9 * SECOND) <= sum(offset.within for offset in offsets.values())
