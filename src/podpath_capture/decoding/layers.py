"""Packets of a chunk side by side, and groups of those that have the same header at the same place.

A block is the first bytes of each packet, copied together once, so that the columns are read from
the processor's cache. All packets of a group have the next header at one offset: a field is then a
strided view, read without a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath_capture.arrays.addresses import AddressNumbers
from podpath_capture.arrays.words import WordColumn
from podpath_capture.columns import CUT, MALFORMED
from podpath_capture.files.index import Bytes, Offsets

BLOCK = 96
"""Bytes of each packet: Ethernet, IPv4 and TCP with all its options. What lies further in is copied
when it is met.
"""
WIDE = 0.25
"""The share of a block from which on it is faster to read and write all of its packets than to pick
some.
"""
Mask = NDArray[np.bool_]
Sizes = NDArray[np.int32]
"""Bytes of a packet; none is longer than `LONGEST`."""
KINDS: dict[str, tuple[np.dtype[Any], np.dtype[Any]]] = {
    kind: (np.dtype(kind), np.dtype(kind).newbyteorder("=")) for kind in ("u1", ">u2", ">u4", ">u8")
}
"""By NumPy's word for a field's type, that type and the type of the numbers that are read from
it.
"""


class Output:
    """What packets are decoded into. Mutable while they are."""

    def __init__(self, data: Bytes, arrays: dict[str, NDArray[Any]]) -> None:
        """Begin with columns of zeros."""
        self.data, self.arrays = data, arrays
        self.addresses = AddressNumbers()
        self.written: set[str] = set()
        """Columns in which something stands that is not zero."""
        self.arps: list[dict[str, NDArray[Any]]] = []
        self.quotes: list[dict[str, NDArray[Any]]] = []


class HeaderBytes:
    """The bytes of some packets from some place in each on, side by side."""

    def __init__(
        self,
        out: Output,
        at: Offsets,
        room: Sizes,
        rows: slice | Offsets,
        skipped: NDArray[Any] | int = 0,
    ) -> None:
        """Copy the bytes at offsets of the file; `room` says how many of each were captured,
        `skipped` how many stand before.
        """
        self.out, self.at, self.room, self.rows, self.skipped = out, at, room, rows, skipped
        self.written: set[str] = set()
        """Columns in which something stands already."""
        self.bytes = gather(out.data, at)
        self.buffer = self.bytes.data
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


class Members:
    """Which packets of a block belong to a wide group, in the shapes in which columns are
    written.
    """

    __slots__ = ("_bits", "_chosen", "_rows", "count", "mask")

    def __init__(self, mask: Mask) -> None:
        """Take the mask."""
        self.mask = mask
        self.count = int(np.count_nonzero(mask))
        self._chosen: Offsets | None = None
        self._rows: Offsets | None = None
        self._bits: dict[np.dtype[Any], NDArray[Any]] = {}

    @property
    def chosen(self) -> Offsets:
        """The members' places in the block."""
        if self._chosen is None:
            self._chosen = np.flatnonzero(self.mask)
        return self._chosen

    def rows(self, rows: Offsets) -> Offsets:
        """Return the members' places in the columns, where those of the block's packets are
        `rows`.
        """
        if self._rows is None:
            self._rows = rows[self.chosen]
        return self._rows

    def bits(self, kind: np.dtype[Any]) -> NDArray[Any]:
        """Return numbers with all bits set for members and none for others."""
        bits = self._bits.get(kind)
        if bits is None:
            bits = self._bits[kind] = ~(self.mask.astype(kind) - kind.type(1))
        return bits


class Group:
    """Packets of a block that have the same header at the same offset.

    A group of many of its block's packets is wide: fields are read of all the block's packets at
    once, columns written of all at once, and a mask says which are members. What is read of the
    others means nothing, and what is written spares them. Of a narrow group the packets are picked
    out one by one.
    """

    __slots__ = ("_rows", "block", "left", "members", "offset", "some")

    def __init__(
        self,
        block: HeaderBytes,
        some: Offsets | None,
        offset: int,
        left: Sizes,
        members: Members | None = None,
    ) -> None:
        """Take some packets of a block, picked or masked (neither: all); `left`: how many bytes
        length fields leave to each.
        """
        self.block, self.some, self.offset, self.left, self.members = (
            block,
            some,
            offset,
            left,
            members,
        )
        self._rows: slice | Offsets | None = None

    def __len__(self) -> int:
        """Count the packets that are read, which of a wide group are those of its block."""
        return len(self.left)

    @property
    def rows(self) -> slice | Offsets:
        """Where the packets that are read stand in the columns."""
        if self._rows is None:
            rows = self.block.rows
            if self.some is not None:
                rows = self.some + rows.start if isinstance(rows, slice) else rows[self.some]
            self._rows = rows
        return self._rows

    @property
    def numbers(self) -> Offsets:
        """Where the packets that are read stand in the columns, one by one."""
        rows = self.rows
        if isinstance(rows, slice):
            return np.arange(rows.start, rows.stop)
        return rows

    @property
    def room(self) -> Sizes:
        """How many bytes of each packet were captured from here on."""
        room = self.block.room if self.some is None else self.block.room[self.some]
        return room - np.int32(self.offset)

    def read(self, at: int, kind: str) -> NDArray[Any]:
        """Read a field of the header: `kind` is NumPy's word for its type, `>u2`."""
        foreign, native = KINDS[kind]
        view: NDArray[Any] = np.ndarray(
            (len(self.block.at),), foreign, self.block.buffer, self.offset + at, (BLOCK,)
        )
        if self.some is None:
            return view.astype(native)
        if 8 * len(self.some) < len(view):
            return view[self.some].astype(native)
        return view.astype(native)[
            self.some
        ]  # a strided copy and an aligned choice: a third of the time of a strided choice

    def words(self, at: int) -> WordColumn:
        """Read eight bytes of the header at once, for their parts."""
        return WordColumn(self.read(at, ">u8"))

    def column(self, name: str) -> NDArray[Any]:
        """Read back what was written to a column."""
        values: NDArray[Any] = self.block.out.arrays[name][self.rows]
        return values

    def put(self, name: str, values: NDArray[Any] | int) -> None:
        """Write a column."""
        column, rows, written = self.block.out.arrays[name], self.block.rows, self.block.written
        members = self.members
        if members is None:
            column[self.rows] = values
        elif isinstance(rows, slice):
            put_members(column[rows], values, members.bits(column.dtype), fresh=name not in written)
        else:
            column[members.rows(rows)] = (
                values if isinstance(values, int) else values[members.chosen]
            )
        written.add(name)
        self.block.out.written.add(name)

    def position(self, at: int = 0) -> NDArray[Any] | int:
        """Say how many bytes from the packets' starts a place of the header stands."""
        skipped = self.block.skipped
        if isinstance(skipped, int):
            return skipped + self.offset + at
        return (skipped if self.some is None else skipped[self.some]) + (self.offset + at)

    def keep(self, mask: Mask) -> Group:
        """Keep the packets that a mask names."""
        if self.some is not None:
            if mask.all():
                return self
            chosen = np.flatnonzero(mask)
            return Group(self.block, self.some[chosen], self.offset, self.left[chosen])
        members = self.members
        kept = Members(mask if members is None else mask & members.mask)
        if kept.count == (len(mask) if members is None else members.count):
            return self
        group = Group(self.block, None, self.offset, self.left, kept)
        if kept.count > WIDE * len(mask):
            return group
        return group.narrow()

    def narrow(self) -> Group:
        """Pick the members one by one, for a reader that keeps lists beside the group; what is kept
        of it is narrow too.
        """
        if self.some is not None:
            return self
        chosen = np.arange(len(self)) if self.members is None else self.members.chosen
        return Group(self.block, chosen, self.offset, self.left[chosen])

    def any(self, mask: Mask) -> bool:
        """Tell whether a mask names one of the packets."""
        return bool(mask.any() if self.members is None else (mask & self.members.mask).any())

    def split(self, values: NDArray[Any]) -> Iterator[tuple[int, Group]]:
        """Part the packets by a value of each."""
        group = self
        while len(group):
            value = values[0 if group.members is None else int(group.members.mask.argmax())]
            same = values == value
            part = group.keep(same)
            yield int(value), part
            if part is group:
                return
            rest = group.keep(~same)
            if rest.some is not None:
                values = values[rest.some if group.some is None else ~same]
            group = rest

    def move(self, count: int, left: Sizes | None = None) -> Group:
        """Go on to the header behind `count` bytes."""
        left = self.left - np.int32(count) if left is None else left
        group = Group(self.block, self.some, self.offset + count, left, self.members)
        group._rows = self._rows
        return group

    def ready(self, need: int) -> Group:
        """Keep those whose header was captured for `need` bytes, which then lie in the block; mark
        the others as cut.
        """
        group = self if self.offset + need <= BLOCK else look_further(self)
        if group.block.least >= group.offset + need:
            return group
        cut = group.room < need
        if group.any(cut):
            group.keep(cut).put("broken", CUT)
        return group.keep(~cut)

    def refuse(self, wrong: Mask) -> Group:
        """Mark the packets of a mask as malformed; give the others."""
        if not self.any(wrong):
            return self
        self.keep(wrong).put("broken", MALFORMED)
        return self.keep(~wrong)


def put_members(
    part: NDArray[Any], values: NDArray[Any] | int, bits: NDArray[Any], *, fresh: bool
) -> None:
    """Write values where all bits are set; nothing is chosen, so that nothing can be guessed wrong.
    `fresh`: it is all zeros.
    """
    if not isinstance(values, int):
        values = values.astype(part.dtype, copy=False)
    if fresh:
        np.bitwise_and(values, bits, out=part)
        return
    changed = part ^ values
    changed &= bits
    np.bitwise_xor(part, changed, out=part)


def look_further(group: Group) -> Group:
    """Copy the bytes that begin at the group's header, of each packet of its block, or of those
    that are picked: so they stay.
    """
    if group.some is not None:
        return merge_groups([group]).narrow()
    block, offset = group.block, group.offset
    skipped = np.broadcast_to(np.asarray(block.skipped, np.int64), (len(block.at),)) + offset
    onward = HeaderBytes(
        block.out,
        np.minimum(block.at + offset, len(block.out.data)),
        block.room - np.int32(offset),
        block.rows,
        skipped,
    )
    onward.written = block.written
    return Group(onward, group.some, 0, group.left, group.members)


def merge_groups(groups: list[Group]) -> Group:
    """Put groups of packets that go on with the same kind of header into one block, which begins
    with it.
    """
    blocks = [group.block for group in groups]
    some = [slice(None) if group.some is None else group.some for group in groups]
    at = [
        block.at[each] + group.offset
        for block, each, group in zip(blocks, some, groups, strict=True)
    ]
    skipped = [
        np.broadcast_to(np.asarray(group.position(), np.int64), (len(group),)) for group in groups
    ]
    block = HeaderBytes(
        groups[0].block.out,
        np.minimum(np.concatenate(at), len(groups[0].block.out.data)),
        np.concatenate([group.room for group in groups]),
        np.concatenate([group.numbers for group in groups]),
        np.concatenate(skipped),
    )
    if len(groups) == 1:
        block.written = blocks[0].written
    return Group(block, None, 0, np.concatenate([group.left for group in groups]))
