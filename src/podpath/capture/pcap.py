"""The pcap file: a header of 24 bytes, then records (draft-ietf-opsawg-pcap; libpcap's sf-pcap.c for its older shapes)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from podpath.capture.framing import LONGEST, PCAP, Framing, heads
from podpath.capture.index import Bytes, Contents, Damage, Index, Interface
from podpath.capture.walk import Walked, walk

HEADER = 24
WINDOW = 1 << 29
"""Bytes of a file that are walked at once: memory stays bounded whatever the file's size."""


class _Shape(NamedTuple):
    order: str
    nanoseconds: int
    """Of one unit of a record's fraction."""
    head: int
    """Bytes of a record's head."""


@dataclass(slots=True)
class Stretch:
    """Where a walk stands, and where it ends. Mutable: it goes on."""

    place: int
    stop: int


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
    framing = parse_header(data, contents)
    if framing is not None:
        yield from index_stretch(data, framing, Stretch(HEADER, len(data)), contents)


def parse_header(data: Bytes, contents: Contents) -> Framing | None:
    """Read the file's header, which says how its records are framed; None where it is cut."""
    shape = SHAPES[bytes(data[:4])]
    if len(data) < HEADER:
        contents.damages.append(Damage(0, f"expected a header of {HEADER} bytes, saw the file end after {len(data)}"))
        return None
    snaplen, link_type = struct.unpack_from(f"{shape.order}2I", data.data, 16)
    contents.interfaces.append(Interface(link_type=link_type & 0xFFFF, snaplen=snaplen, order=shape.order))
    framing = Framing(PCAP, shape.order, shape.head, 8, shape.head, LONGEST if snaplen <= LONGEST else min(snaplen, 1 << 27))
    framing = framing._replace(fraction=1_000_000_000 // shape.nanoseconds)
    if len(data) >= HEADER + 4:
        framing = framing._replace(first_time=struct.unpack_from(f"{shape.order}I", data.data, HEADER)[0])
    return framing


def index_stretch(data: Bytes, framing: Framing, stretch: Stretch, contents: Contents) -> Iterator[Index]:
    """Find the packets of a stretch of a file, from a record's beginning up to the first that begins at or behind its end."""
    while stretch.place < stretch.stop:
        walked = walk(data, framing, stretch.place, min(stretch.place + WINDOW, stretch.stop))
        contents.damages.extend(walked.damages)
        stretch.place = walked.next
        yield _as_index(data, framing, walked)


def _as_index(data: Bytes, framing: Framing, walked: Walked) -> Index:
    head = heads(data, framing.order, walked.places, 4) if walked.heads is None else walked.heads
    time = np.multiply(head[:, 0], 1_000_000_000, dtype=np.int64)
    time += np.multiply(head[:, 1], 1_000_000_000 // framing.fraction, dtype=np.int64)
    return Index(
        offset=walked.places + framing.head,
        caplen=head[:, 2].astype(np.uint32),
        wirelen=head[:, 3].astype(np.uint32),
        time=time,
        interface=np.zeros(len(head), np.uint16),
    )
