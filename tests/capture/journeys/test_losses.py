"""Planted losses are found, all of them and no others; what proves nothing is not called a loss."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.capture.sightings import Losses
from podpath_capture.journeys.losses import FILTERED, LEAKING, find_losses
from podpath_capture.matching.matching import Matching, match_captures
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture.planted import (
    ACK,
    MILLISECOND,
    SECOND,
    START,
    SYN,
    Ends,
    Hop,
    Packet,
    Truth,
    World,
    write_pcap,
)
from tests.capture.planted_talk import Talker, beat, populate

ENDS = Ends("10.244.0.2", 40000, "10.96.0.1", 80)


def found(matching: Matching, losses: Losses) -> list[Truth]:
    """Spell losses as the world does."""
    points = matching.points
    return sorted(
        Truth(
            loss.last_seen.file,
            loss.last_seen.number,
            points[loss.missing_at].file,
            loss.end - loss.begin,
        )
        for loss in losses.lost
    )


@pytest.mark.parametrize("seed", range(100))
def test_planted_losses_are_found_exactly(seed: int) -> None:
    """Whatever two to six points do with packets, each loss is found where it was planted, and
    there is no other.
    """
    world = populate(World(seed, reorder=bool(seed % 2)))
    matching = match_captures(world.files())
    losses = find_losses(matching)

    assert world.truth() == found(matching, losses)
    assert () == losses.unseen


@pytest.mark.parametrize("seed", range(100, 115))
def test_losses_are_found_where_most_is_lost(seed: int) -> None:
    """Connections that do not come about, and directions that end somewhere, are found as
    exactly.
    """
    world = populate(World(seed, loss=0.3))
    matching = match_captures(world.files())

    assert world.truth() == found(matching, find_losses(matching))


@pytest.mark.parametrize("seed", range(200, 215))
def test_losses_are_found_without_identifications(seed: int) -> None:
    """IPv6 has none: packets that are alike are told apart by timestamps and times."""
    world = populate(World(seed, six=True))
    matching = match_captures(world.files())

    assert world.truth() == found(matching, find_losses(matching))


@pytest.mark.parametrize("seed", range(300, 330))
def test_captures_that_begin_and_end_at_other_times_claim_nothing_untrue(seed: int) -> None:
    """Whenever each point captures, what is called lost at a point did never come there."""
    world = World(seed)
    world.hops = [replace(hop, whole=False) for hop in world.hops]
    populate(world)
    passed = [{id(shot.packet) for shot in shots} for shots in world.shots]
    names = [hop.name for hop in world.hops]
    for shots in world.shots:
        shots.sort(key=lambda shot: shot.time)
        first, last = sorted(world.draw.sample(range(len(shots) + 1), 2))
        if world.draw.random() < 0.7:
            del shots[max(last, 4) :]
            del shots[: min(first, len(shots) - 4)]
    kept = {hop.name: shots for hop, shots in zip(world.hops, world.shots, strict=True)}
    matching = match_captures(world.files())
    lost = find_losses(matching).lost

    for loss in lost:
        packet = kept[loss.last_seen.file][loss.last_seen.number - 1].packet
        assert id(packet) not in passed[names.index(matching.points[loss.missing_at].file)], loss


def chain(*, count: int = 3, whole: bool = False) -> World:
    """Make a world of points on one host that loses nothing by itself, with traffic before all
    else.
    """
    hops = [
        Hop(name=f"p{at}", host=0, offset=0, delay=20_000, routed=False, whole=whole)
        for at in range(count)
    ]
    return World(1, hops, loss=0.0)


def judged(world: World) -> tuple[Matching, Losses]:
    """Match the captures of a world, in the order of their names."""
    matching = match_captures(sorted(world.files(), key=lambda file: file.name))
    return matching, find_losses(matching)


def test_a_loss_carries_its_evidence() -> None:
    """The packet at every point that it passed, and what the next point captured before and
    after.
    """
    world = chain()
    beat(world)
    talker = Talker(world, ENDS, START + 50 * SECOND)
    talker.open()
    world.send([talker.packet(forward=True, flags=ACK, size=100)], ENDS, talker.time, cut_at=2)
    talker.time += 200 * MILLISECOND
    world.send([talker.packet(forward=True, flags=ACK, size=100)], ENDS, talker.time)
    matching, losses = judged(world)
    (loss,) = losses.lost

    assert ("data 1:101", ["p0", "p1"], 2, True, "same direction") == (
        loss.what, [seen.file for seen in loss.seen], loss.missing_at, loss.repeated, loss.basis
    )  # fmt: skip
    assert ("p2", "p2") == (loss.before.file, loss.after.file)
    assert loss.before.time < loss.last_seen.time < loss.after.time
    assert 40000 == matching.connection(loss.connection).forward.passages[0].ends.sport


def test_a_handshake_that_never_arrives_is_lost_where_its_neighbours_go_on() -> None:
    """A SYN that nobody answers should have come where other connections with the same server
    come.
    """
    world = chain()
    beat(world)
    for attempt in range(3):
        world.send(
            [Packet(6, forward=True, flags=SYN, seq=7, ident=5 + attempt)],
            ENDS,
            START + (50 + attempt) * SECOND,
            cut_at=1,
        )
    _, losses = judged(world)

    assert [("SYN", "p0", 1, "neighbours", False)] * 3 == [
        (loss.what, loss.last_seen.file, loss.missing_at, loss.basis, loss.repeated)
        for loss in losses.lost
    ]


def test_an_answer_that_never_arrives_is_lost_where_the_question_came_from() -> None:
    """A SYN-ACK should have come where its SYN passed."""
    world = chain()
    beat(world)
    world.send([Packet(6, forward=True, flags=SYN, seq=7, ident=5)], ENDS, START + 50 * SECOND)
    world.send(
        [Packet(6, forward=False, flags=SYN | ACK, seq=9, ack=8)],
        ENDS,
        START + 51 * SECOND,
        cut_at=0,
    )
    _, losses = judged(world)

    assert [("SYN-ACK", ["p2", "p1"], 0, "reverse direction")] == [
        (loss.what, [seen.file for seen in loss.seen], loss.missing_at, loss.basis)
        for loss in losses.lost
    ]


def test_the_last_acknowledgement_of_a_handshake() -> None:
    """The third packet is lost between the points, and not the data that comes after it."""
    world = chain(count=2)
    beat(world)
    talker = Talker(world, ENDS, START + 50 * SECOND)
    talker.acked = {True: talker.isn[False] + 1, False: talker.isn[True] + 1}
    world.send([talker.packet(forward=True, flags=SYN)], ENDS, talker.time)
    world.send(
        [talker.packet(forward=False, flags=SYN | ACK, ident=False)],
        ENDS,
        talker.time + MILLISECOND,
    )
    talker.next[True] += 1
    world.send(
        [talker.packet(forward=True, flags=ACK)], ENDS, talker.time + 2 * MILLISECOND, cut_at=1
    )
    world.send(
        [talker.packet(forward=False, flags=SYN | ACK, ident=False)], ENDS, talker.time + SECOND
    )
    _, losses = judged(world)

    assert [("ACK", 1)] == [(loss.what, loss.missing_at) for loss in losses.lost]


def whole_talk() -> World:
    """Make a world of two points with one connection between heartbeats, of which nothing is
    lost.
    """
    world = chain(count=2)
    beat(world)
    talker = Talker(world, ENDS, START + 50 * SECOND)
    talker.open()
    for _ in range(3):
        talker.talk(forward=True, size=4000)
    return world


@pytest.mark.parametrize(
    ("begin", "end", "why"),
    [(0.0, 0.6, "the capture there had ended"), (0.4, 1.0, "the capture there had not begun")],
)
def test_a_capture_that_was_not_running_claims_nothing(begin: float, end: float, why: str) -> None:
    """What passes while the next point does not capture is unseen, not lost."""
    world = whole_talk()
    shots = sorted(world.shots[1], key=lambda shot: shot.time)
    world.shots[1] = shots[int(len(shots) * begin) : int(len(shots) * end)]
    _, losses = judged(world)

    assert ((), {why}) == (losses.lost, {each.why for each in losses.unseen})


def drop_one(world: World) -> tuple[CapturedFile, CapturedFile]:
    """Take one data packet of the world's connection out of the second capture."""
    files = sorted(world.files(), key=lambda file: file.name)
    columns = files[1].capture.packets.columns
    at = next(
        row
        for row in range(len(columns))
        if columns.payload[row] > 1000 and columns.time[row] > START + 50 * SECOND
    )
    shots = sorted(world.shots[1], key=lambda shot: shot.time)
    data = write_pcap(shots[:at] + shots[at + 1 :])
    return files[0], replace(files[1], capture=read_capture(data))


def test_what_was_acknowledged_was_not_lost() -> None:
    """A packet that is missing at a point, but not to the receiver, was missed by the capture."""
    files = drop_one(whole_talk())
    losses = find_losses(match_captures([replace(file, data=None) for file in files]))

    assert ((), ["the other side acknowledged it"]) == (
        losses.lost,
        [each.why for each in losses.unseen],
    )


def test_drop_counters_explain_what_is_missing() -> None:
    """As many packets as the kernel says that it dropped are not called lost; more than that
    are.
    """
    world = chain(count=2)
    beat(world)
    for number in range(6):
        packet = Packet(17, forward=True, ident=number + 1, body=bytes([number]))
        world.send(
            [packet], ENDS, START + (40 + number) * SECOND, cut_at=1 if number in {2, 3} else None
        )
    files = sorted(world.files(), key=lambda file: file.name)
    told = [
        find_losses(match_captures([files[0], replace(files[1], dropped=dropped)]))
        for dropped in (0, 1, 2)
    ]

    assert [2, 2, 0] == [len(losses.lost) for losses in told]
    assert ["the kernel dropped 2 packets there that the capture does not show"] == [
        each.why for each in told[2].unseen
    ]


def test_a_filter_explains_what_is_missing() -> None:
    """A capture of SYNs, FINs and resets alone misses the rest; a server that never gets the rest
    shows the same, and is told.
    """
    world = whole_talk()
    columns = {file.name: file.capture.packets.columns for file in world.files()}["p1"]
    order = sorted(world.shots[1], key=lambda shot: shot.time)
    world.shots[1] = [shot for row, shot in enumerate(order) if columns.flags[row] & 0x07]
    _, losses = judged(world)

    assert () == losses.lost
    assert FILTERED in {each.why for each in losses.unseen}


def test_damage_explains_what_is_missing() -> None:
    """Between the packets around a damaged place of the file the point saw nothing."""
    world = whole_talk()
    files = sorted(world.files(), key=lambda file: file.name)
    data = write_pcap(sorted(world.shots[1], key=lambda shot: shot.time))
    columns = files[1].capture.packets.columns
    rows = [
        row
        for row in range(len(columns))
        if columns.payload[row] > 1000 and columns.time[row] > START + 50 * SECOND
    ]
    start, stop = int(columns.offset[rows[2]]) - 16, int(columns.offset[rows[2]]) + 8
    broken = data[:start] + bytes([255] * (stop - start)) + data[stop:]
    capture = read_capture(broken)
    losses = find_losses(
        match_captures(
            [replace(files[0], data=None), replace(files[1], data=None, capture=capture)]
        )
    )

    assert capture.damages
    assert ((), {"the capture there is damaged at that time"}) == (
        losses.lost,
        {each.why for each in losses.unseen},
    )


def test_a_point_that_one_direction_does_not_pass() -> None:
    """Where replies take another way than requests, nothing of the requests is lost at the replies'
    points.
    """
    world = whole_talk()
    kept = world.shots[1]
    columns = {file.name: file.capture.packets.columns for file in world.files()}["p1"]
    order = sorted(kept, key=lambda shot: shot.time)
    world.shots[1] = [
        shot
        for row, shot in enumerate(order)
        if columns.sport[row] != 40000 or abs(shot.time - START - 55 * SECOND) > 6 * SECOND
    ]
    _, losses = judged(world)

    assert () == losses.lost
    assert {
        "its direction was never seen there, and the other side acknowledged what was sent"
    } == {each.why for each in losses.unseen}


def test_requests_that_were_answered_arrived() -> None:
    """A datagram that a point does not show, but that was answered from behind it, took another
    way.
    """
    world = chain(count=2)
    beat(world)
    world.send(
        [Packet(17, forward=True, ident=1, body=b"ask")], ENDS, START + 50 * SECOND, cut_at=1
    )
    world.send([Packet(17, forward=False, ident=2, body=b"answer")], ENDS, START + 51 * SECOND)

    assert () == judged(world)[1].lost


def test_segments_that_were_cut_differently_are_not_lost() -> None:
    """One point shows large packets, the next one the small ones that they become: only the one
    that is lost is told.
    """
    world = chain(count=2)
    world.hops = [replace(world.hops[0], whole=True), replace(world.hops[1], delay=3)]
    beat(world)
    talker = Talker(world, ENDS, START + 50 * SECOND, stamped=False)
    talker.open()
    world.send([talker.packet(forward=True, flags=ACK, size=5 * 1448)], ENDS, talker.time)
    shots = sorted(world.shots[1], key=lambda shot: shot.time)
    large = [
        at
        for at, shot in enumerate(shots)
        if len(shot.frame) > 1400 and shot.time > START + 50 * SECOND
    ]
    world.shots[1] = [shot for at, shot in enumerate(shots) if at != large[2]]
    _, losses = judged(world)

    assert [("data 2897:4345", 1)] == [(loss.what, loss.missing_at) for loss in losses.lost]


def test_losses_without_clocks() -> None:
    """Between hosts whose clocks nothing compares, what shares no packet with a point is not called
    lost there.
    """
    world = World(
        1,
        [
            Hop(name=f"p{at}", host=at, offset=at * 10**15, delay=20_000, routed=True, whole=False)
            for at in range(2)
        ],
        loss=0.0,
    )
    for number in range(3):
        packet = Packet(17, forward=True, ident=number + 1, body=bytes([number]))
        world.send([packet], ENDS, START + number * SECOND)
    other = ENDS._replace(sport=5)
    world.send([Packet(17, forward=True, ident=9, body=b"9")], other, START + SECOND, cut_at=1)
    _, losses = judged(world)

    assert ((), ["no clock tells when it should have come there"]) == (
        losses.lost,
        [each.why for each in losses.unseen],
    )


@pytest.mark.parametrize("leaks", [False, True])
def test_a_capture_that_leaves_out_what_passed_is_not_believed(leaks: bool) -> None:  # noqa: FBT001 - pytest gives it
    """A point that misses a packet which a later one shows may have missed the next one, too, that
    nobody sends again.
    """
    world = chain(whole=True)
    beat(world)
    talker = Talker(world, ENDS, START + 50 * SECOND)
    talker.open()
    talker.talk(forward=True, size=100)
    missed = talker.packet(forward=True, flags=ACK, size=100)
    world.send([missed], ENDS, talker.time)
    if leaks:
        world.shots[1] = [shot for shot in world.shots[1] if shot.packet is not missed]
    talker.time += 200 * MILLISECOND
    talker.next[True] += 100
    world.send([talker.packet(forward=True, flags=ACK)], ENDS, talker.time, cut_at=1)
    talker.time += 200 * MILLISECOND
    talker.talk(forward=False, size=100)
    _, losses = judged(world)
    left_out = [each.why for each in losses.unseen]

    assert [not leaks, leaks] == [len(losses.lost) == 1, LEAKING in left_out]
