"""Packets of a chunk side by side, and groups of those that have the same header at the same place.

A block is the first bytes of each packet, copied together once, so that the columns are read from the processor's cache.
All packets of a group have the next header at one offset: a field is then a strided view, read without a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import CUT, MALFORMED
from podpath.capture.index import Bytes, Offsets

BLOCK = 144
"""Bytes of each packet: Ethernet, IPv4, UDP, VXLAN and the same again with TCP and all its options."""
Mask = NDArray[np.bool_]
NATIVE: dict[str, type[np.unsignedinteger[Any]]] = {"u1": np.uint8, ">u2": np.uint16, ">u4": np.uint32, ">u8": np.uint64}
"""By NumPy's word for a field's type, the type of the numbers that are read from it."""


class Addresses:
    """Numbers IPv6 addresses. Mutable while packets are decoded."""

    def __init__(self) -> None:
        """Begin with none."""
        self._numbers: dict[tuple[int, int], int] = {}

    def number(self, high: NDArray[np.uint64], low: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Give each address its number, by its upper and lower half."""
        order = np.lexsort((low, high))
        high, low = high[order], low[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
        known = self._numbers
        given = [known.setdefault(pair, len(known)) for pair in zip(high[first].tolist(), low[first].tolist(), strict=True)]
        numbers = np.empty(len(order), np.uint32)
        numbers[order] = np.array(given, np.uint32)[np.cumsum(first) - 1]
        return numbers

    def values(self) -> tuple[int, ...]:
        """Give all addresses, in the order of their numbers."""
        return tuple(high << 64 | low for high, low in self._numbers)


class Output:
    """What packets are decoded into. Mutable while they are."""

    def __init__(self, data: Bytes, arrays: dict[str, NDArray[Any]]) -> None:
        """Begin with columns of zeros."""
        self.data, self.arrays = data, arrays
        self.addresses = Addresses()
        self.arps: list[dict[str, NDArray[Any]]] = []
        self.quotes: list[dict[str, NDArray[Any]]] = []


class Block:
    """The bytes of some packets from some place in each on, side by side."""

    def __init__(self, out: Output, at: Offsets, room: Offsets, rows: slice | Offsets, skipped: NDArray[Any] | int = 0) -> None:
        """Copy the bytes at offsets of the file; `room` says how many of each were captured, `skipped` how many stand before."""
        self.out, self.at, self.room, self.rows, self.skipped = out, at, room, rows, skipped
        self.bytes = gather(out.data, at)
        self.least = int(room.min())


def gather(data: Bytes, at: Offsets) -> Bytes:
    """Copy the bytes at each offset; past the end of the file stand zeros."""
    size = len(data)
    safe = max(size - BLOCK, 0)
    if size >= BLOCK:
        view: NDArray[Any] = np.ndarray((safe + 1,), np.dtype(("V", BLOCK)), data.data, 0, (1,))
        taken = view[np.minimum(at, safe)].view(np.uint8).reshape(-1, BLOCK)
    else:
        taken = np.zeros((len(at), BLOCK), np.uint8)
    late = np.flatnonzero(at > safe) if size >= BLOCK else np.arange(len(at))
    if len(late):
        tail = np.concatenate((data[safe:], np.zeros(BLOCK, np.uint8)))
        place = np.minimum(at[late] - safe, len(tail) - BLOCK)
        taken[late] = tail[place[:, None] + np.arange(BLOCK)]
    return taken


class Group:
    """Packets of a block that have the same header at the same offset."""

    __slots__ = ("block", "left", "offset", "some")

    def __init__(self, block: Block, some: Offsets | None, offset: int, left: Offsets) -> None:
        """Take some rows of a block (None: all); `left` says for each how many bytes its length fields leave from here on."""
        self.block, self.some, self.offset, self.left = block, some, offset, left

    def __len__(self) -> int:
        """Count the packets."""
        return len(self.left)

    @property
    def rows(self) -> slice | Offsets:
        """Where the packets stand in the columns."""
        rows = self.block.rows
        if self.some is None:
            return rows
        return self.some + rows.start if isinstance(rows, slice) else rows[self.some]

    @property
    def numbers(self) -> Offsets:
        """Where the packets stand in the columns, one by one."""
        rows = self.rows
        return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows

    @property
    def room(self) -> Offsets:
        """How many bytes of each packet were captured from here on."""
        room = self.block.room if self.some is None else self.block.room[self.some]
        return room - self.offset

    def read(self, at: int, kind: str) -> NDArray[Any]:
        """Read a field of the header: `kind` is NumPy's word for its type, `>u2`."""
        view: NDArray[Any] = np.ndarray((len(self.block.bytes),), kind, self.block.bytes.data, self.offset + at, (BLOCK,))
        native = NATIVE[kind]
        if self.some is None:
            return view.astype(native)
        if 8 * len(self.some) < len(view):
            return view[self.some].astype(native)
        return view.astype(native)[self.some]  # a strided copy and an aligned choice: a third of the time of a strided choice

    def put(self, column: str, values: NDArray[Any] | int) -> None:
        """Write a column."""
        self.block.out.arrays[column][self.rows] = values

    def position(self, at: int = 0) -> NDArray[Any] | int:
        """Say how many bytes from the packets' starts a place of the header stands."""
        skipped = self.block.skipped
        if isinstance(skipped, int):
            return skipped + self.offset + at
        return (skipped if self.some is None else skipped[self.some]) + (self.offset + at)

    def keep(self, mask: Mask) -> Group:
        """Keep the packets that a mask names."""
        if mask.all():
            return self
        chosen = np.flatnonzero(mask)
        return Group(self.block, chosen if self.some is None else self.some[chosen], self.offset, self.left[chosen])

    def split(self, values: NDArray[Any]) -> Iterator[tuple[int, Group]]:
        """Part the packets by a value of each."""
        group = self
        while len(group):
            value = values[0]
            same = values == value
            if same.all():
                yield int(value), group
                return
            yield int(value), group.keep(same)
            group, values = group.keep(~same), values[~same]

    def move(self, count: int, left: Offsets | None = None) -> Group:
        """Go on to the header behind `count` bytes."""
        return Group(self.block, self.some, self.offset + count, self.left - count if left is None else left)

    def ready(self, need: int) -> Group:
        """Keep those whose header was captured for `need` bytes, which then lie in the block; mark the others as cut."""
        group = self
        if self.offset + need > BLOCK:
            rows = self.numbers
            at = self.block.at if self.some is None else self.block.at[self.some]
            inside = np.minimum(at + self.offset, len(self.block.out.data))
            skipped = np.broadcast_to(np.asarray(self.position(), np.int64), (len(self),))
            group = Group(Block(self.block.out, inside, self.room, rows, skipped), None, 0, self.left)
        if group.block.least >= group.offset + need:
            return group
        whole = group.room >= need
        if not whole.all():
            group.keep(~whole).put("broken", CUT)
        return group.keep(whole)

    def refuse(self, wrong: Mask) -> Group:
        """Mark the packets of a mask as malformed; give the others."""
        if not wrong.any():
            return self
        self.keep(wrong).put("broken", MALFORMED)
        return self.keep(~wrong)
