"""Flows cut to instances where their ends are used again."""

from __future__ import annotations

from podpath_capture.matching.connection_identity import find_instances
from podpath_capture.matching.joined import Joined
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames


def numbers(*segments: bytes) -> tuple[list[int], list[int]]:
    """Return the instance of each segment, and the client's number of each instance."""
    capture = read_capture(
        frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, segment)) for segment in segments])
    )
    found = find_instances(Joined([CapturedFile(name="a", capture=capture)]))
    return found.number.tolist(), found.client_isn.tolist()


def test_a_new_handshake_begins_an_instance() -> None:
    """What stands before the first handshake, and each handshake with another number, is a
    connection of its own.
    """
    data, syn, again = (
        frames.tcp(flags, numbers=(seq, 1)) for flags, seq in ((0x10, 77), (0x02, 100), (0x02, 900))
    )

    assert ([1, 0, 0, 2, 2], [100, -1, 900]) == numbers(data, syn, data, again, data)


def test_a_syn_that_is_sent_again_begins_none() -> None:
    """The same number is the same connection."""
    syn = frames.tcp(0x02, numbers=(100, 0))

    assert ([0, 0], [100]) == numbers(syn, syn)


def test_without_a_handshake_the_number_is_not_known() -> None:
    """A reset tells nothing."""
    assert ([0], [-1]) == numbers(frames.tcp(0x06, numbers=(100, 0)))
