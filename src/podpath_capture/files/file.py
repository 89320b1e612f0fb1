"""A capture file of any shape to the places of its packets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from podpath_capture.files.index import Bytes, Contents, Index
from podpath_capture.files.pcap import index_pcap, is_pcap
from podpath_capture.files.pcapng import index_pcapng, is_pcapng


def as_bytes(buffer: bytes | memoryview) -> Bytes:
    """See a buffer, for example a memory map, as an array without a copy."""
    return np.frombuffer(buffer, np.uint8)


def index_packets(data: Bytes, contents: Contents) -> Iterator[Index]:
    """Find all packets of a capture, a window of the file at a time; `ValueError` where it is
    none.
    """
    head = bytes(data[:16])
    if is_pcap(head):
        return index_pcap(data, contents)
    if is_pcapng(head):
        return index_pcapng(data, contents)
    raise ValueError(
        f"expected a capture (pcap or pcapng), saw a file that begins with {head[:4].hex(' ')}"
    )
