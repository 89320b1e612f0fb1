"""A whole capture, or one batch of its packets after the other, from the bytes of its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from podpath.capture.workers import Workers
from podpath_capture.columns import PacketColumns, Packets
from podpath_capture.decoding.decode import decode_packets, unread_link_types
from podpath_capture.files.file import as_bytes, index_packets
from podpath_capture.files.index import (
    CaptureDamage,
    Contents,
    Index,
    Interface,
    join,
    part,
)
from podpath_capture.files.omissions import find_omissions
from podpath_capture.reading.together import TooManyPacketsError, read_together

COUNTED = 1 << 19
"""Packets that are counted at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedCapture:
    """What a capture file holds."""

    packets: Packets
    interfaces: tuple[Interface, ...]
    damages: tuple[CaptureDamage, ...]
    """What could not be read, in the order of the file."""
    names: dict[str, str]
    """Names that the file gives to addresses."""
    omissions: tuple[CaptureDamage, ...] = ()
    """What the file says of packets that it lacks, or may lack."""


def read_capture(
    buffer: bytes | memoryview, workers: Workers | None = None, most: int | None = None
) -> DecodedCapture:
    """Read all packets of a capture; what is damaged or cut is told. `ValueError` where it is no
    capture, `TooManyPacketsError` where it has more than `most` packets.

    Several workers read it together, and give the same.
    """
    data, contents = as_bytes(buffer), Contents()
    if workers is None or workers.size < 2:
        packets = None
    else:
        packets = read_together(data, contents, workers, most)
    if packets is None:
        contents = Contents()
        index = join([*_take_most(index_packets(data, contents), most)])
        packets = decode_packets(data, index, contents.interfaces)
    damages = sorted([*contents.damages, *unread_link_types(contents.interfaces)])
    return DecodedCapture(
        packets=packets,
        interfaces=tuple(contents.interfaces),
        damages=tuple(damages),
        names=dict(contents.names),
        omissions=list_omissions(contents, packets.columns),
    )


def list_omissions(contents: Contents, columns: PacketColumns) -> tuple[CaptureDamage, ...]:
    """Say what a file's own words tell of packets that it lacks; a pcap file has none."""
    if not contents.sections:
        return ()
    counts = np.zeros(len(contents.interfaces), np.int64)
    for start in range(0, len(columns), COUNTED):
        numbers = columns.interface[start : start + COUNTED]
        counts += np.bincount(numbers, minlength=len(counts))
    return tuple(find_omissions(contents, counts.tolist()))


def _take_most(parts: Iterable[Index], most: int | None) -> Iterator[Index]:
    """Yield parts of an index as they are found, as long as they are not too many."""
    count = 0
    for each in parts:
        count += len(each)
        if most is not None and count > most:
            raise TooManyPacketsError
        yield each


def read_batches(
    buffer: bytes | memoryview, contents: Contents, batch: int = 1 << 20
) -> Iterator[Packets]:
    """Read a capture in batches of packets, so that memory stays bounded; what it says besides goes
    to `contents`.

    A batch numbers its rows and IPv6 addresses by itself.
    """
    data = as_bytes(buffer)
    for index in index_packets(data, contents):
        for start in range(0, len(index), batch):
            yield decode_packets(data, part(index, start, start + batch), contents.interfaces)
