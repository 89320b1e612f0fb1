"""The pcap file: a header of 24 bytes, then records (draft-ietf-opsawg-pcap; libpcap's sf-pcap.c for its older shapes)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from podpath.capture.framing import LONGEST, PCAP, Framing, heads
from podpath.capture.index import Bytes, Contents, Damage, Index, Interface
from podpath.capture.walk import walk

HEADER = 24
WINDOW = 1 << 29
"""Bytes of a file that are walked at once: memory stays bounded whatever the file's size."""


class _Shape(NamedTuple):
    order: str
    nanoseconds: int
    """Of one unit of a record's fraction."""
    head: int
    """Bytes of a record's head."""


SHAPES: dict[bytes, _Shape] = {
    bytes.fromhex("d4c3b2a1"): _Shape("<", 1000, 16),
    bytes.fromhex("a1b2c3d4"): _Shape(">", 1000, 16),
    bytes.fromhex("4d3cb2a1"): _Shape("<", 1, 16),
    bytes.fromhex("a1b23c4d"): _Shape(">", 1, 16),
    bytes.fromhex("34cdb2a1"): _Shape("<", 1000, 24),  # Kuznetsov's patch: index, protocol and type behind the head
    bytes.fromhex("a1b2cd34"): _Shape(">", 1000, 24),
}
"""By the first four bytes of the file."""


def is_pcap(head: bytes) -> bool:
    """Tell whether a file's first bytes are those of a pcap file."""
    return head[:4] in SHAPES


def index_pcap(data: Bytes, contents: Contents) -> Iterator[Index]:
    """Find all packets of a pcap file, a window at a time; what the file says besides goes to `contents`."""
    shape = SHAPES[bytes(data[:4])]
    if len(data) < HEADER:
        contents.damages.append(Damage(0, f"expected a header of {HEADER} bytes, saw the file end after {len(data)}"))
        return
    snaplen, link_type = struct.unpack_from(f"{shape.order}2I", data.data, 16)
    contents.interfaces.append(Interface(link_type=link_type & 0xFFFF, snaplen=snaplen, order=shape.order))
    framing = Framing(PCAP, shape.order, shape.head, 8, shape.head, LONGEST if snaplen <= LONGEST else min(snaplen, 1 << 27))
    framing = framing._replace(fraction=1_000_000_000 // shape.nanoseconds)
    if len(data) >= HEADER + 4:
        framing = framing._replace(first_time=struct.unpack_from(f"{shape.order}I", data.data, HEADER)[0])
    place = HEADER
    while place < len(data):
        walked = walk(data, framing, place, place + WINDOW)
        contents.damages.extend(walked.damages)
        place = walked.next
        head = heads(data, shape.order, walked.places, 4) if walked.heads is None else walked.heads
        time = np.multiply(head[:, 0], 1_000_000_000, dtype=np.int64)
        time += np.multiply(head[:, 1], shape.nanoseconds, dtype=np.int64)
        yield Index(
            offset=walked.places + shape.head,
            caplen=head[:, 2].astype(np.uint32),
            wirelen=head[:, 3].astype(np.uint32),
            time=time,
            interface=np.zeros(len(head), np.uint16),
        )
