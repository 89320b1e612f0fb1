"""What one capture point shows of TCP: for each packet whether it repeats, overtakes or misses
bytes, for each flow how it went.

Packets of a direction stand together, so that what a receiver keeps in variables is a running
maximum here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import ACK, FIN, RST, SYN, TCP
from podpath_capture.arrays.segments import LOWEST, Mask, Numbers, Runs, order_by
from podpath_capture.columns import PacketColumns
from podpath_capture.flows.flows import Flows

RETRANSMISSION, SPURIOUS, OUT_OF_ORDER, GAP, DUPLICATE_ACK, ZERO_WINDOW, KEEP_ALIVE = (
    1 << bit for bit in range(7)
)
"""Bits of what is said of a packet."""
SLAB = 1 << 15
"""Packets that are looked at together, and the rest of the last one's flow."""
BLOCK = 1 << 16
"""Packets that are sorted at once to find those of some flows; their places need 16 bits."""
OVERTAKEN = 3_000_000
"""Nanoseconds within which a segment that comes late was overtaken, not sent again, as Wireshark
takes it.
"""
_BARE = SYN | FIN | RST


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentAnalysis:
    """What each packet is; of packets that are no TCP nothing is said (False, 0)."""

    relative: Numbers
    """The sequence number relative to the first of its direction, without wraps."""
    said: NDArray[np.uint8]
    """The bits of what it is."""

    def _is(self, bit: int) -> Mask:
        mask: Mask = self.said & np.uint8(bit) != 0
        return mask

    @property
    def retransmission(self) -> Mask:
        """Bytes (or a SYN or FIN) that its direction showed before, or jumped over before, and that
        are not `out_of_order`.
        """
        return self._is(RETRANSMISSION)

    @property
    def spurious(self) -> Mask:
        """Retransmissions of what the other side had acknowledged already."""
        return self._is(SPURIOUS)

    @property
    def out_of_order(self) -> Mask:
        """Bytes that come right behind later ones."""
        return self._is(OUT_OF_ORDER)

    @property
    def gap(self) -> Mask:
        """Bytes before it were not captured."""
        return self._is(GAP)

    @property
    def duplicate_ack(self) -> Mask:
        """It acknowledges again what its direction's packet before did, and says nothing else."""
        return self._is(DUPLICATE_ACK)

    @property
    def zero_window(self) -> Mask:
        """It lets the other side send nothing."""
        return self._is(ZERO_WINDOW)

    @property
    def keep_alive(self) -> Mask:
        """It only asks whether the other side is there."""
        return self._is(KEEP_ALIVE)


def analyse_segments(columns: PacketColumns, flows: Flows) -> SegmentAnalysis:
    """Look at all packets of TCP, some flows after the others: what is worked on stays in the
    processor's cache.
    """
    relative = np.zeros(len(columns), np.int64)
    said = np.zeros(len(columns), np.uint8)
    for some in _slabs(columns, flows):
        streams = _Streams(columns, flows, some)
        relative[streams.rows], said[streams.rows] = streams.relative, streams.judge()
    return SegmentAnalysis(relative=relative, said=said)


def _slabs(columns: PacketColumns, flows: Flows) -> Iterator[Numbers]:
    """Yield the rows of some flows after the others, about `SLAB` rows at a time, each in the order
    of the file.
    """
    counts = np.bincount(flows.number + np.int32(1), minlength=1)
    part_of_flow = (np.cumsum(counts) // SLAB + 1).astype(
        np.uint8 if len(columns) < SLAB * 254 else np.uint16
    )
    part_of_flow[0] = 0  # what is of no flow
    pieces: dict[int, list[tuple[int, NDArray[np.uint16]]]] = defaultdict(list)
    for start in range(0, len(columns), BLOCK):
        block = slice(start, start + BLOCK)
        part = part_of_flow.take(flows.number[block] + np.int32(1)) * (
            columns.protocol[block] == TCP
        )
        order = np.argsort(part, kind="stable").astype(np.uint16)  # a radix sort
        for number, (first, last) in enumerate(pairwise(np.cumsum(np.bincount(part)).tolist()), 1):
            if first < last:
                pieces[number].append((start, order[first:last]))
    for number in sorted(pieces):
        yield np.concatenate(
            [places.astype(np.int64) + start for start, places in pieces.pop(number)]
        )


class _Streams:
    """The packets of some flows, direction by direction, each in the order of the file. Local to
    `analyze_segments`.
    """

    def __init__(self, columns: PacketColumns, flows: Flows, rows: Numbers) -> None:
        stream = flows.number.take(rows) << 1
        stream -= stream.min()
        stream += ~flows.forward.take(rows)
        order = order_by(stream)
        self.rows = rows = rows.take(order)
        self.columns, self.stream = columns, stream.take(order)
        self.runs = Runs(self.stream)
        self.flags, self.payload = columns.flags.take(rows), columns.payload.take(rows)
        self.length = self.payload + (self.flags & SYN != 0) + (self.flags & FIN != 0)
        self.seq, self.ack = columns.seq.take(rows), columns.ack.take(rows)
        self.relative = self.runs.unwrapped(self.seq)
        reach = self.relative + self.length
        reach[np.flatnonzero(self.flags & RST)] = LOWEST
        self.expected = self.runs.before(self.runs.running_maximum(reach), LOWEST)

    def judge(self) -> NDArray[np.uint8]:
        """Return the bits of what each packet is."""
        ahead, known = self.relative - self.expected, self.expected > LOWEST
        flags, window = self.flags, self.columns.window.take(self.rows)
        plain, asks, closed = flags & _BARE == 0, flags & (_BARE | ACK) == ACK, window == 0
        keep_alive = (
            known & plain & (self.payload <= 1) & (ahead == -1) & (asks | (self.payload == 1))
        )
        repeats = known & (self.length > 0) & (flags & RST == 0) & (ahead < 0) & ~keep_alive
        again = (
            asks
            & (self.length == 0)
            & ~closed
            & (ahead == 0)
            & self.runs.repeat(self.ack)
            & self.runs.repeat(window)
        )
        said: NDArray[np.uint8] = keep_alive.view(np.uint8) * np.uint8(KEEP_ALIVE)
        said |= (known & (flags & RST == 0) & (ahead > 0)).view(np.uint8) * np.uint8(GAP)
        said |= again.view(np.uint8) * np.uint8(DUPLICATE_ACK)
        said |= (closed & plain).view(np.uint8) * np.uint8(ZERO_WINDOW)
        if repeats.any():
            self._judge_repeats(repeats, said)
        return said

    def _judge_repeats(self, repeats: Mask, said: NDArray[np.uint8]) -> None:
        """Add the bits of what is not new; only connections that have such packets are looked
        at.
        """
        flow = self.stream >> 1
        troubled = np.zeros(int(flow[-1]) + 1, np.bool_)
        troubled[flow[repeats]] = True
        some = _Repeats(self, np.flatnonzero(troubled.take(flow)))
        places = some.places
        again = np.flatnonzero(repeats.take(places))
        late = some.are_overtaken(again)
        said[places[again[late]]] |= np.uint8(OUT_OF_ORDER)
        again = again[~late]
        said[places[again]] |= np.uint8(RETRANSMISSION)
        said[places[again[some.are_acknowledged(again)]]] |= np.uint8(SPURIOUS)


class _Repeats:
    """The packets of flows in which something is not new. Local to `analyze_segments`."""

    def __init__(self, streams: _Streams, places: Numbers) -> None:
        self._all, self.places = streams, places
        self._stream, self._seq, self._length = (
            values.take(places) for values in (streams.stream, streams.seq, streams.length)
        )
        self._runs = Runs(self._stream)

    def are_overtaken(self, again: Numbers) -> Mask:
        """Tell which segments that are not new come right behind a later one, and were not seen
        before.
        """
        whole, runs = self._all, self._runs
        reach = whole.relative.take(self.places) + self._length
        grows = (self._length > 0) & (reach > whole.expected.take(self.places))
        latest = runs.before(runs.running_maximum(np.where(grows, np.arange(len(grows)), -1)), -1)
        latest = np.maximum(latest, runs.spread(runs.starts)).take(again)
        time, late = (
            whole.columns.time.take(whole.rows.take(self.places.take(some)))
            for some in (again, latest)
        )
        overtaken: Mask = (time - late < OVERTAKEN) & (
            whole.flags.take(self.places.take(again)) & SYN == 0
        )
        if overtaken.any():
            overtaken &= ~self._are_seen()[again]
        return overtaken

    def _are_seen(self) -> Mask:
        """Tell which segments begin as an earlier one of their direction does."""
        sending = np.flatnonzero(self._length > 0)
        relative, stream = self._all.relative[self.places[sending]], self._stream[sending]
        order = np.lexsort((relative, stream))
        seen = np.zeros(len(self.places), np.bool_)
        seen[sending[order]] = Runs(stream[order]).repeat(relative[order])
        return seen

    def are_acknowledged(self, again: Numbers) -> Mask:
        """Tell which segments end at or before what the other direction had acknowledged by then.

        Both are counted from the direction's first packet, within 2 GB of it.
        """
        whole, stream, seq, runs = self._all, self._stream, self._seq, self._runs
        base, names = seq[runs.starts], stream[runs.starts]
        other = np.minimum(np.searchsorted(names, names ^ 1), len(names) - 1)
        distance = (
            (whole.ack.take(self.places) - runs.spread(base[other])).view(np.int32).astype(np.int64)
        )
        says = (whole.flags.take(self.places) & ACK != 0) & runs.spread(names[other] == names ^ 1)
        covered = runs.running_maximum(np.where(says, distance, LOWEST))
        marks = stream.astype(np.int64) << 40 | whole.rows.take(self.places)
        latest = np.searchsorted(marks, marks[again] ^ 1 << 40) - 1
        short = (seq[again] - runs.spread(base)[again] + self._length[again]).view(np.int32)
        done: Mask = (
            (covered[latest] >= short) & (latest >= 0) & (stream[latest] == stream[again] ^ 1)
        )
        return done
