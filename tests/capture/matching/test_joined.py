"""The packets of several files behind each other."""

from __future__ import annotations

import numpy as np

from podpath.net.addresses import Address
from podpath_capture.matching.joined import Joined
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames


def test_packets_are_named_by_file_and_number() -> None:
    """Rows lead back to file and number; IPv6 addresses are looked up in the file that numbered
    them.
    """
    four = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))
    six = frames.ethernet(0x86DD, frames.ipv6(6, frames.tcp(), ends=("fd00::7", "fd00::8")))
    joined = Joined(
        [
            CapturedFile(name=name, capture=read_capture(frames.pcap([four, six])))
            for name in ("a", "b")
        ]
    )

    assert [("a", 1), ("a", 2), ("b", 1), ("b", 2)] == [
        joined.sighting(row)[1:3] for row in range(len(joined))
    ]
    assert (Address.parse("fd00::7"), 40000) == joined.ends(3)[1:3]
    assert [0, 1, 0, 1] == joined.same.tolist()
    assert joined.tunnel(0) is None


def test_fragments_are_of_no_flow() -> None:
    """A datagram in pieces is put together on its way: its pieces are not matched."""
    piece = frames.ethernet(0x0800, frames.ipv4(17, frames.udp((1, 2), bytes(8)), fragment=0x2000))
    joined = Joined([CapturedFile(name="a", capture=read_capture(frames.pcap([piece])))])

    assert [-1] == joined.flow.tolist()


def test_printed_captures_have_no_digest() -> None:
    """Where one capture has no bytes, the bytes of the others are left out of the keys."""
    data = frames.pcap([frames.ethernet(0x0800, frames.ipv4(17, frames.udp((1, 2), b"abc")))])
    capture = read_capture(data)
    both = Joined(
        [
            CapturedFile(name="a", capture=capture, data=np.frombuffer(data, np.uint8)),
            CapturedFile(name="b", capture=capture),
        ]
    )

    assert both.keys[0] == both.keys[1]
