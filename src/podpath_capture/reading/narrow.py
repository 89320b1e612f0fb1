"""The columns of a capture that is too long to hold all of them: those by which connections are
told apart and judged.

They go into a store batch by batch, wherever it keeps them, and come back as columns of the whole
capture, in which those that were left out are zero everywhere and take no memory. The rest of some
packets is read from the file again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from podpath_capture.columns import TYPES, PacketColumns, Packets
from podpath_capture.decoding.decode import decode_packets
from podpath_capture.files.index import Bytes, Index, Interface

KEPT = (
    "time", "offset", "caplen", "wirelen", "interface", "version", "protocol", "flags", "depth",
    "broken", "direction", "icmp_type", "sport", "dport", "fragment", "window", "src", "dst",
    "payload", "data_at", "seq", "ack", "query", "vni", "ifindex", "outer_dport", "smac",
    "dmac",
)  # fmt: skip
"""The columns that are kept."""
WIDTH = sum(np.dtype(TYPES[name]).itemsize for name in KEPT)
"""Bytes that they take for each packet."""


class Store(Protocol):
    """Where columns are kept: they are written one piece after the other, and then read as a
    whole.
    """

    def append(self, name: str, piece: memoryview) -> None:
        """Add bytes to a column."""

    def view(self, name: str) -> memoryview:
        """Return all bytes of a column; nothing is added after that."""


class Narrow:
    """The columns of a long capture. Batches are added in their order, then `columns` gives them
    all.
    """

    def __init__(self, store: Store) -> None:
        """Begin with no packet."""
        self._store = store
        self._addresses: dict[int, int] = {}
        self._columns: PacketColumns | None = None

    def add(self, packets: Packets) -> PacketColumns:
        """Keep a batch; give its columns with IPv6 addresses numbered through the whole capture."""
        numbers = [
            self._addresses.setdefault(address, len(self._addresses))
            for address in packets.addresses
        ]
        columns = packets.columns
        if numbers:
            table, six = np.array(numbers, np.uint32), columns.version == 6
            ends = {name: getattr(columns, name).copy() for name in ("src", "dst")}
            for values in ends.values():
                values[six] = table[values[six]]
            columns = replace(columns, **ends)
        for name in KEPT:
            self._store.append(
                name, np.ascontiguousarray(getattr(columns, name)).view(np.uint8).data
            )
        return columns

    @property
    def columns(self) -> PacketColumns:
        """The columns of all packets that were added."""
        if self._columns is None:
            kept = {name: np.frombuffer(self._store.view(name), TYPES[name]) for name in KEPT}
            self._columns = fill_up(kept)
        return self._columns

    @property
    def addresses(self) -> tuple[int, ...]:
        """The IPv6 address of each number."""
        return tuple(self._addresses)

    def slabs(self, size: int) -> Iterator[tuple[int, PacketColumns]]:
        """Yield the columns some packets at a time, with the row of the first of them."""
        columns = self.columns
        for start in range(0, len(columns), size):
            yield start, take(columns, slice(start, start + size))


def fill_up(kept: dict[str, NDArray[Any]]) -> PacketColumns:
    """Make columns of some; the others are zero."""
    count = len(kept["time"])
    zeros = {
        field.name: np.broadcast_to(np.zeros(1, TYPES[field.name]), count)
        for field in fields(PacketColumns)
    }
    return PacketColumns(**(zeros | kept))


def take(columns: PacketColumns, rows: slice | NDArray[np.int64]) -> PacketColumns:
    """Return some packets of narrow columns."""
    return fill_up({name: getattr(columns, name)[rows] for name in KEPT})


def decode_rows(
    data: Bytes, columns: PacketColumns, interfaces: list[Interface], rows: NDArray[np.int64]
) -> Packets:
    """Read all columns of some packets from the file."""
    index = Index(
        offset=columns.offset[rows],
        caplen=columns.caplen[rows],
        wirelen=columns.wirelen[rows],
        time=columns.time[rows],
        interface=columns.interface[rows],
    )
    return decode_packets(data, index, interfaces)
