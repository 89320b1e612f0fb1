"""A stretch of a capture's columns, both moments included."""

from __future__ import annotations

from podpath_capture.narrowed import choose_times
from podpath_capture.reading.read import read_capture
from tests.capture import frames


def test_packets_of_a_stretch_are_chosen() -> None:
    """By their times to the nanosecond; with no moment named, all."""
    frame = frames.ethernet(0x0800, frames.ipv4(17, frames.udp((1, 2), b"")))
    columns = read_capture(frames.pcap([frame] * 4)).packets.columns
    first, second, third, fourth = columns.time.tolist()

    assert [second, third] == choose_times(columns, second / 1e9, third / 1e9).time.tolist()
    assert [first, second, third, fourth] == choose_times(columns, None, None).time.tolist()
