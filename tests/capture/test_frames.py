"""Frames of captures by themselves: what was sent anew, how numbers count, what is an error."""

from __future__ import annotations

from dataclasses import replace

from podpath.capture.frames import (
    clock,
    counted,
    errors_about,
    is_error,
    opening_with,
    point_of,
    repeated_data,
    same_segments,
    seconds_between,
    times_sent,
)
from podpath.net import protocols
from podpath.net.packet import Packet
from tests.capture.made_frames import ACK, PSH, SYN, A, B, frame


def test_copies_are_not_times_sent() -> None:
    """What is seen twice within a moment was sent once; without times three lines are three."""
    assert 2 == len(times_sent([frame(0, SYN, 7), frame(0.001, SYN, 7), frame(1, SYN, 7)]))
    assert 1 == len(times_sent([frame(None, SYN, 7)] * 2))
    assert 3 == len(times_sent([frame(None, SYN, 7)] * 3))


def test_numbers_count_from_the_syn() -> None:
    """A number as on the wire gives the distance; a relative one stays."""
    assert [16, 5, 5] == [counted(916, 900), counted(5, 900), counted(5, None)]


def test_repeated_data_are_segments_sent_anew() -> None:
    """A segment that comes a second time later was sent again; its copies are together."""
    frames = [
        frame(0, PSH | ACK, 1, 1, 80),
        frame(0.3, PSH | ACK, 1, 1, 80),
        frame(0.4, PSH | ACK, 81, 1, 80),
    ]

    assert [2, 1] == [len(copies) for copies in same_segments(frames)]
    assert [2] == [len(copies) for copies in repeated_data(frames)]


def test_segments_that_open_are_told_by_their_flags() -> None:
    """A push flag changes nothing; an acknowledgment beside the SYN does."""
    frames = [frame(0, SYN, 7), frame(0.1, SYN | ACK, 7), frame(0.2, PSH | SYN, 7)]

    assert [frames[0], frames[2]] == opening_with(frames, SYN)
    assert [frames[1]] == opening_with(frames, SYN | ACK)
    assert [] == list(errors_about(frames))


def test_errors_and_times() -> None:
    """An ICMP error is told by its type; times are spelled with microseconds."""
    error = Packet(B, A, protocols.ICMP, icmp_type=3)

    assert is_error(error)
    assert not is_error(error._replace(icmp_type=8))
    assert "15:38:52.862377" == clock(56332.862377)
    assert seconds_between(frame(1, ACK), frame(3.5, ACK)) == 2.5
    assert seconds_between(frame(None, ACK), frame(3.5, ACK)) is None


def test_tunnels_of_gtp_are_one_point() -> None:
    """Each direction has its number; a network of VXLAN is a point of its own."""
    seen = frame(0.0, ACK)
    names = ("GTP-U teid 7", "GTP-U teid 8", "VXLAN vni 7", "VXLAN vni 8")
    points = [point_of(replace(seen, tunnel=name)) for name in names]

    assert points[0] == points[1]
    assert 3 == len(set(points))
