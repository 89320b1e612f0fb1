"""Packets of one connection across its points."""

from __future__ import annotations

from podpath_capture.journeys.journeys import follow_packets
from tests.capture.ladder_worlds import matched


def test_every_packet_is_followed_in_the_order_of_time() -> None:
    """Times are those of one clock, whichever host saw a packet first."""
    journeys = follow_packets(*matched())

    assert ["SYN", "SYN-ACK", "SYN-ACK", "ACK", "data 1:8689", "FIN"] == [
        journey.what for journey in journeys
    ]
    assert [True, False, False, True, True, True] == [journey.forward for journey in journeys]
    assert sorted(journey.time for journey in journeys) == [journey.time for journey in journeys]
    assert journeys[-1].time - journeys[0].time < 2 * 10**9


def test_large_packets_and_their_segments_are_one_journey() -> None:
    """One packet at the first points, six at the third, five at the last: the missing one is
    told.
    """
    data = follow_packets(*matched())[4]

    assert [1, 1, 6, 5] == [len(sightings) for sightings in data.seen]
    assert [("data 2897:4345", 3)] == [(loss.what, loss.missing_at) for loss in data.lost]


def test_a_journey_ends_where_its_packet_was_lost() -> None:
    """Nothing is seen behind the loss."""
    answer = follow_packets(*matched())[1]

    assert [1, 0, 0, 0] == [len(sightings) for sightings in answer.seen]
    assert ["SYN-ACK"] == [loss.what for loss in answer.lost]
