"""Which points should have seen a packet, and whether they could."""

from __future__ import annotations

from podpath_capture.journeys.witnesses import NEIGHBOURS, REVERSE, Expected, Watch, Ways
from podpath_capture.matching.matching import Matching, match_captures
from tests.capture.planted import ACK, MILLISECOND, SECOND, START, SYN, Ends, Hop, Packet, World
from tests.capture.planted_talk import Talker

OPEN, SHUT = Ends("10.0.0.1", 500, "10.96.0.2", 80), Ends("10.0.0.1", 501, "10.96.0.2", 80)


def matched(*packets: tuple[Packet, int | None], ends: Ends = SHUT) -> Matching:
    """Match three points that one whole connection passes, and then packets that do not all
    arrive.
    """
    world = World(
        1,
        [
            Hop(name=f"p{at}", host=0, offset=0, delay=10_000, routed=False, whole=False)
            for at in range(3)
        ],
        loss=0.0,
    )
    Talker(world, OPEN, START).open()
    for at, (packet, cut_at) in enumerate(packets):
        world.send([packet], ends, START + (at + 1) * SECOND, cut_at=cut_at)
    return match_captures(sorted(world.files(), key=lambda file: file.name))


ASK, ANSWER = (
    Packet(6, forward=True, flags=SYN, seq=5, ident=1),
    Packet(6, forward=False, flags=SYN | ACK, seq=9, ack=6),
)


def test_without_an_answer_the_neighbours_tell() -> None:
    """Connections with the same server go on to the second and third point."""
    matching = matched((ASK, 1))

    assert [Expected(1, NEIGHBOURS), Expected(2, NEIGHBOURS)] == Ways(matching).extend(
        2, matching.order(2)
    )


def test_with_another_server_nobody_tells() -> None:
    """Where nothing like it goes on, nothing is expected."""
    matching = matched((ASK, 1), ends=SHUT._replace(dst="10.96.0.9"))

    assert [] == Ways(matching).extend(2, matching.order(2))


def test_another_service_of_the_same_server_tells() -> None:
    """Where no connection with the same port goes on, others with the same address do."""
    matching = matched((ASK, 1), ends=SHUT._replace(dport=443))

    assert [Expected(1, NEIGHBOURS), Expected(2, NEIGHBOURS)] == Ways(matching).extend(
        2, matching.order(2)
    )


def test_the_other_direction_tells() -> None:
    """An answer should go back past the points of the question."""
    matching = matched((ASK, None), (ANSWER, 1))

    assert [Expected(1, REVERSE), Expected(0, REVERSE)] == Ways(matching).extend(
        3, matching.order(3)
    )


def test_points_see_while_they_capture() -> None:
    """Before its first and after its last packet a point is blind; it tells what it captured
    around.
    """
    matching = matched((ASK, None))
    watch = Watch(matching)

    assert ["the capture there had not begun", "", "the capture there had ended"] == [
        watch.blind(1, START + at, 0) for at in (-SECOND, 500 * MILLISECOND, 2 * SECOND)
    ]
    assert "the capture there had ended" == watch.blind(
        1, START + 900 * MILLISECOND, 400 * MILLISECOND
    )
    assert 4 == len(watch.around(1)[0])
    assert 0 == watch.missed(1)
