"""The pcap file: a header of 24 bytes, then records (draft-ietf-opsawg-pcap; libpcap's sf-pcap.c
for its older shapes).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath_capture.files.framing import LONGEST, PCAP, Framing, heads
from podpath_capture.files.index import (
    INDEX_TYPES,
    Bytes,
    CaptureDamage,
    Contents,
    Index,
    Interface,
)
from podpath_capture.files.walk import WalkedRecords, walk

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
    bytes.fromhex("34cdb2a1"): _Shape(
        "<", 1000, 24
    ),  # Kuznetsov's patch: index, protocol and type behind the head
    bytes.fromhex("a1b2cd34"): _Shape(">", 1000, 24),
}
"""By the first four bytes of the file."""


def is_pcap(head: bytes) -> bool:
    """Tell whether a file's first bytes are those of a pcap file."""
    return head[:4] in SHAPES


def index_pcap(data: Bytes, contents: Contents) -> Iterator[Index]:
    """Find all packets of a pcap file, a window at a time; what the file says besides goes to
    `contents`.
    """
    framing = parse_header(data, contents)
    if framing is not None:
        for walked in walk_stretch(data, framing, Stretch(HEADER, len(data)), contents):
            arrays = {
                name: np.zeros(len(walked.places), kind) for name, kind in INDEX_TYPES.items()
            }
            fill_index(data, framing, walked, arrays)
            yield Index(**arrays)


def parse_header(data: Bytes, contents: Contents) -> Framing | None:
    """Read the file's header, which says how its records are framed; None where it is cut."""
    shape = SHAPES[bytes(data[:4])]
    if len(data) < HEADER:
        contents.damages.append(
            CaptureDamage(
                0, f"expected a header of {HEADER} bytes, saw the file end after {len(data)}"
            )
        )
        return None
    snaplen, link_type = struct.unpack_from(f"{shape.order}2I", data.data, 16)
    contents.interfaces.append(
        Interface(link_type=link_type & 0xFFFF, snaplen=snaplen, order=shape.order)
    )
    framing = Framing(
        PCAP,
        shape.order,
        shape.head,
        8,
        shape.head,
        LONGEST if snaplen <= LONGEST else min(snaplen, 1 << 27),
    )
    framing = framing._replace(fraction=1_000_000_000 // shape.nanoseconds)
    if len(data) >= HEADER + 4:
        framing = framing._replace(
            first_time=struct.unpack_from(f"{shape.order}I", data.data, HEADER)[0]
        )
    return framing


def walk_stretch(
    data: Bytes, framing: Framing, stretch: Stretch, contents: Contents
) -> Iterator[WalkedRecords]:
    """Find the records of a stretch of a file, from one's beginning up to the first that begins at
    or behind its end.
    """
    while stretch.place < stretch.stop:
        walked = walk(data, framing, stretch.place, min(stretch.place + WINDOW, stretch.stop))
        contents.damages.extend(walked.damages)
        stretch.place = walked.next
        yield walked


def fill_index(
    data: Bytes, framing: Framing, walked: WalkedRecords, arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write what the heads of records say into arrays of zeros; all packets are of the one
    interface, whose number is 0.
    """
    head = heads(data, framing.order, walked.places, 4) if walked.heads is None else walked.heads
    time = arrays["time"]
    np.multiply(head[:, 0], 1_000_000_000, dtype=np.int64, out=time)
    time += np.multiply(head[:, 1], 1_000_000_000 // framing.fraction, dtype=np.int64)
    np.add(walked.places, framing.head, out=arrays["offset"])
    arrays["caplen"][:], arrays["wirelen"][:] = head[:, 2], head[:, 3]
