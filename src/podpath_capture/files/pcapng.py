"""The pcapng file: sections of blocks, each section with interfaces of its own
(draft-ietf-opsawg-pcapng).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from podpath_capture.arrays.segments import distinct
from podpath_capture.files.framing import LONGEST, PCAPNG, Framing, words
from podpath_capture.files.index import (
    Bytes,
    CaptureDamage,
    Contents,
    FileSection,
    Index,
    Offsets,
    empty_index,
)
from podpath_capture.files.pcap import WINDOW
from podpath_capture.files.pcapng_options import (
    note_statistics,
    parse_application,
    parse_interface,
    parse_names,
)
from podpath_capture.files.walk import SECTION, walk

INTERFACE, OLD_PACKET, SIMPLE, NAMES, STATISTICS, PACKET = 1, 2, 3, 4, 5, 6
MAGIC = bytes.fromhex("0a0d0d0a")
HEADS = {PACKET: 28, OLD_PACKET: 28, SIMPLE: 12}
"""Bytes before the packet in each block that holds one."""
LEAST = {INTERFACE: 20, STATISTICS: 24, NAMES: 12, SECTION: 28}


def is_pcapng(head: bytes) -> bool:
    """Tell whether a file's first bytes are those of a pcapng file."""
    return head[:4] == MAGIC and _order(head[8:12]) is not None


def _order(magic: bytes) -> str | None:
    return {bytes.fromhex("1a2b3c4d"): ">", bytes.fromhex("4d3c2b1a"): "<"}.get(magic)


def index_pcapng(data: Bytes, contents: Contents) -> Iterator[Index]:
    """Find all packets of a pcapng file, a window at a time; what the file says besides goes to
    `contents`.
    """
    place, section = 0, 0
    while place < len(data):
        if bytes(data[place : place + 4]) == MAGIC:
            order = _order(bytes(data[place + 8 : place + 12]))
        else:
            order = None
        if order is None:
            contents.damages.append(
                CaptureDamage(
                    place, "expected a section of pcapng, saw something else: the rest is left out"
                )
            )
            return
        framing = Framing(PCAPNG, order, 12, 4, 0, max(LONGEST * 2, 1 << 24), step=4)
        while place < len(data):
            walked = walk(data, framing, place, place + WINDOW)
            contents.damages.extend(walked.damages)
            reader = _Blocks(data, order, contents, section)
            yield reader.index(walked.places)
            section = reader.section
            moved = walked.next > place
            place = walked.next
            if not moved or _order(bytes(data[place + 8 : place + 12])) not in {order, None}:
                break


class _Blocks:
    """Reads the blocks of one byte order. Local to `index_pcapng`."""

    def __init__(self, data: Bytes, order: str, contents: Contents, section: int) -> None:
        self._data, self._order, self._contents = data, order, contents
        self._words = words(data, order)
        self.section = section
        """Where the current section's interfaces begin in the list of all."""

    def index(self, places: Offsets) -> Index:
        """Read what stands at some places: packets as arrays, all else one by one, in order."""
        if not len(places):
            return empty_index()
        kinds = self._words[places]
        lengths = self._words[places + 4]
        packet = np.zeros(len(places), np.bool_)
        for kind, head in HEADS.items():
            packet |= (kinds == kind) & (lengths >= head + 4)
        base = np.zeros(len(places), np.int64)
        told = self.section
        previous = 0
        for row in np.flatnonzero(~packet).tolist():
            base[previous:row] = told
            previous = row
            self._read(int(places[row]), int(kinds[row]), int(lengths[row]))
            told = self.section
        base[previous:] = told
        return self._packets(
            places[packet], kinds[packet], lengths[packet].astype(np.int64), base[packet]
        )

    def _read(self, place: int, kind: int, length: int) -> None:
        """Read a block that is no packet; kinds that say nothing of packets are passed over."""
        if length < LEAST.get(kind, 12):
            self._contents.damages.append(
                CaptureDamage(place, f"expected at least {LEAST.get(kind, 12)} bytes, saw {length}")
            )
            return
        body = bytes(self._data[place + 8 : place + length - 4])
        interfaces = self._contents.interfaces
        if kind == SECTION:
            self.section = len(interfaces)
            program = parse_application(body, self._order)
            self._contents.sections.append(FileSection(place, self.section, program))
        elif kind == INTERFACE:
            interfaces.append(parse_interface(body, self._order, place))
        elif kind == NAMES:
            self._contents.names.update(parse_names(body, self._order))
        elif kind == STATISTICS:
            number = self.section + int(struct.unpack_from(f"{self._order}I", body)[0])
            if number < len(interfaces):
                note_statistics(body, self._order, interfaces[number])

    def _packets(
        self, at: Offsets, kinds: NDArray[np.uint32], lengths: Offsets, base: Offsets
    ) -> Index:
        view = self._words
        simple, old = kinds == SIMPLE, kinds == OLD_PACKET
        head = np.where(simple, 12, 28)
        first = view[at + 8].astype(np.int64)
        number = np.where(simple, 0, first)
        if old.any():
            number[old] = first[old] & 0xFFFF if self._order == "<" else first[old] >> 16
        number += base
        far = np.where(simple, at - 8, at + 8)  # a simple one may end the file
        wirelen = np.where(simple, first, view[far + 16]).astype(np.uint32)
        room = lengths - head - 4
        caplen = np.minimum(
            np.where(simple, np.minimum(first, self._snaplens(number)), view[far + 12]), room
        )
        ticks = np.where(
            simple, 0, view[far + 4].astype(np.uint64) << np.uint64(32) | view[far + 8]
        )
        current = kinds == PACKET
        self._note_options(at[current], lengths[current])
        known = number < len(self._contents.interfaces)
        for place in at[~known][:1].tolist():
            count = int((~known).sum())
            self._contents.damages.append(
                CaptureDamage(
                    place, f"expected an interface that is described, saw none for {count} packets"
                )
            )
        return Index(
            offset=(at + head)[known],
            caplen=caplen[known].astype(np.uint32),
            wirelen=wirelen[known],
            time=self._times(ticks[known], number[known]),
            interface=number[known].astype(np.uint16),
        )

    def _note_options(self, at: Offsets, lengths: Offsets) -> None:
        """Read the options of those enhanced packet blocks that have some."""
        held = self._words[at + 20].astype(np.int64)
        starts, ends = at + 28 + ((held + 3) >> 2 << 2), at + lengths - 4
        some = np.flatnonzero(starts + 4 <= ends)
        if len(some):
            self._contents.notes.add(self._words, self._order, starts[some], ends[some])

    def _snaplens(self, number: Offsets) -> Offsets:
        limits = [interface.snaplen or 1 << 31 for interface in self._contents.interfaces] or [
            1 << 31
        ]
        return np.array(limits, np.int64)[np.minimum(number, len(limits) - 1)]

    def _times(self, ticks: NDArray[np.uint64], number: Offsets) -> NDArray[np.int64]:
        """Turn ticks into nanoseconds, by each interface's resolution."""
        times = np.zeros(len(ticks), np.int64)
        for each in distinct(number).tolist():
            interface = self._contents.interfaces[each]
            mine = number == each
            numerator, divisor = interface.resolution
            some = ticks[mine]
            if divisor == 1:
                scaled = some * np.uint64(numerator)
            elif numerator == 1:
                scaled = some // np.uint64(divisor)
            elif divisor > 1 << 63:
                scaled = (some.astype(np.float64) * (numerator / divisor)).astype(np.uint64)
            else:  # a power of two
                whole, rest = np.divmod(some, np.uint64(divisor))
                scaled = whole * np.uint64(numerator) + (
                    rest.astype(np.float64) * numerator / divisor
                ).astype(np.uint64)
            times[mine] = scaled.astype(np.int64) + np.uint64(
                interface.shift * 1_000_000_000 % (1 << 64)
            ).astype(np.int64)
        return times
