"""A connection through NAT, a tunnel, offload and another clock, of which some packets are lost:
what ladders are drawn of.
"""

from __future__ import annotations

from podpath.capture.sightings import Ladder
from podpath_capture.journeys.ladders import lay_out
from podpath_capture.matching.matching import Matching, match_captures
from tests.capture.planted import ACK, FIN, MILLISECOND, PUSH, SECOND, START, SYN, Ends, Hop, World
from tests.capture.planted_talk import Talker, beat

HOPS = (
    Hop(name="pod1.pcap", host=0, offset=0, delay=0, routed=False, whole=True),
    Hop(name="cni0.pcap", host=0, offset=0, delay=3, routed=False, whole=True, destination=True),
    Hop(
        name="eth0.pcap",
        host=0,
        offset=0,
        delay=3,
        routed=True,
        whole=False,
        source=True,
        tunnel="vxlan",
    ),
    Hop(
        name="node2.pcap",
        host=1,
        offset=3 * SECOND,
        delay=300_000,
        routed=False,
        whole=False,
        tunnel="vxlan",
    ),
)


def matched() -> tuple[Matching, int]:
    """Match four points past which a connection loses a SYN-ACK, one of six segments and a FIN;
    give its number, too.
    """
    world = World(5, list(HOPS), loss=0.0)
    beat(world)
    ends = Ends("10.244.0.2", 40000, "10.96.0.1", 80)
    talker = Talker(world, ends, START + 50 * SECOND)
    talker.acked = {True: talker.isn[False] + 1, False: talker.isn[True] + 1}

    def send(*, forward: bool, flags: int, size: int = 0, cut_at: int | None = None) -> None:
        world.send(
            [talker.packet(forward=forward, flags=flags, size=size, ident=flags != SYN | ACK)],
            ends,
            talker.time,
            cut_at=cut_at,
        )
        talker.time += 10 * MILLISECOND

    send(forward=True, flags=SYN)
    send(forward=False, flags=SYN | ACK, cut_at=2)
    talker.time += SECOND
    send(forward=False, flags=SYN | ACK)
    talker.next = {True: talker.isn[True] + 1, False: talker.isn[False] + 1}
    send(forward=True, flags=ACK)
    send(forward=True, flags=PUSH | ACK, size=6 * 1448)
    large = [
        shot
        for shot in world.shots[3]
        if 53 * SECOND < shot.time - START < 60 * SECOND and len(shot.frame) > 1400
    ]
    segment = large[2]
    world.shots[3].remove(segment)
    talker.next[True] += 6 * 1448
    send(forward=True, flags=FIN | ACK, cut_at=1)
    matching = match_captures(
        sorted(
            world.files(),
            key=lambda file: HOPS.index(next(hop for hop in HOPS if hop.name == file.name)),
        )
    )
    number = next(
        connection.number
        for connection in matching
        if connection.forward.passages and connection.forward.passages[0].ends.sport == ends.sport
    )
    return matching, number


def laid_out() -> Ladder:
    """Lay the connection out."""
    return lay_out(*matched())
