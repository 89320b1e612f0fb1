"""A whole capture, or one batch of its packets after the other, from the bytes of its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from podpath.capture.columns import Packets
from podpath.capture.decode import decode_packets, unread_link_types
from podpath.capture.files import as_bytes, index_packets
from podpath.capture.index import Contents, Damage, Index, Interface, empty_index


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What a capture file holds."""

    packets: Packets
    interfaces: tuple[Interface, ...]
    damages: tuple[Damage, ...]
    """What could not be read, in the order of the file."""
    names: dict[str, str]
    """Names that the file gives to addresses."""


def read_capture(buffer: bytes | memoryview) -> Capture:
    """Read all packets of a capture; what is damaged or cut is told. `ValueError` where it is no capture."""
    data, contents = as_bytes(buffer), Contents()
    index = join([*index_packets(data, contents)])
    packets = decode_packets(data, index, contents.interfaces)
    damages = sorted([*contents.damages, *unread_link_types(contents.interfaces)])
    return Capture(packets=packets, interfaces=tuple(contents.interfaces), damages=tuple(damages), names=dict(contents.names))


def read_batches(buffer: bytes | memoryview, contents: Contents, batch: int = 1 << 20) -> Iterator[Packets]:
    """Read a capture in batches of packets, so that memory stays bounded; what it says besides goes to `contents`.

    A batch numbers its rows and IPv6 addresses by itself.
    """
    data = as_bytes(buffer)
    for index in index_packets(data, contents):
        for start in range(0, len(index), batch):
            yield decode_packets(data, part(index, start, start + batch), contents.interfaces)


def part(index: Index, start: int, stop: int) -> Index:
    """Give some packets of an index."""
    return Index(
        offset=index.offset[start:stop],
        caplen=index.caplen[start:stop],
        wirelen=index.wirelen[start:stop],
        time=index.time[start:stop],
        interface=index.interface[start:stop],
    )


def join(parts: list[Index]) -> Index:
    """Put the parts of an index together."""
    if len(parts) == 1:
        return parts[0]
    parts = parts or [empty_index()]
    return Index(
        offset=np.concatenate([each.offset for each in parts]),
        caplen=np.concatenate([each.caplen for each in parts]),
        wirelen=np.concatenate([each.wirelen for each in parts]),
        time=np.concatenate([each.time for each in parts]),
        interface=np.concatenate([each.interface for each in parts]),
    )
