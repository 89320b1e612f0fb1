"""A whole capture, and batches of it."""

from __future__ import annotations

from podpath_capture.files.index import Contents
from podpath_capture.reading.read import read_batches, read_capture
from tests.capture import frames

SYN = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))
DATA = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp(0x18, data=b"payload")))
QUESTION = frames.ethernet(0x86DD, frames.ipv6(17, frames.udp((5, 53), b"question")))


def test_batches_are_the_whole() -> None:
    """Reading in batches gives the same packets, some at a time."""
    data = frames.pcap([SYN, DATA, QUESTION, SYN] * 5)
    batches = list(read_batches(data, Contents(), batch=7))

    assert [7, 7, 6] == [len(batch) for batch in batches]
    assert read_capture(data).packets.columns.seq.tolist() == [
        seq for batch in batches for seq in batch.columns.seq.tolist()
    ]
