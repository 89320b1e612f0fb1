"""What one capture point shows of TCP: for each packet whether it repeats, overtakes or misses bytes, for each flow how it went.

Packets of a direction stand together, so that what a receiver keeps in variables is a running maximum here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import Columns
from podpath.capture.flows import Flows
from podpath.capture.segments import LOWEST, Numbers, before, begins, order_by, running_maximum, unwrapped
from podpath.net.protocols import ACK, FIN, RST, SYN, TCP

Mask = NDArray[np.bool_]
JUDGEMENTS = ("retransmission", "spurious", "out_of_order", "gap", "duplicate_ack", "zero_window", "keep_alive")
"""The masks of `Segments`, in the order of their bits while they are found."""
SLAB = 1 << 15
"""Packets that are looked at together, and the rest of the last one's flow."""
OVERTAKEN = 3_000_000
"""Nanoseconds within which a segment that comes late was overtaken, not sent again, as Wireshark takes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments:
    """What each packet is; of packets that are no TCP nothing is said (False, 0)."""

    relative: Numbers
    """The sequence number relative to the first of its direction, without wraps."""
    retransmission: Mask
    """Bytes (or a SYN or FIN) that its direction showed before, or jumped over before, and that are not `out_of_order`."""
    spurious: Mask
    """Retransmissions of what the other side had acknowledged already."""
    out_of_order: Mask
    """Bytes that come right behind later ones."""
    gap: Mask
    """Bytes before it were not captured."""
    duplicate_ack: Mask
    zero_window: Mask
    keep_alive: Mask


def analyse_segments(columns: Columns, flows: Flows) -> Segments:
    """Look at all packets of TCP, some flows after the others: what is worked on stays in the processor's cache."""
    rows = np.flatnonzero((columns.protocol == TCP) & (flows.number >= 0))
    rows = rows[order_by(flows.number[rows])]
    relative = np.zeros(len(columns), np.int64)
    said = np.zeros(len(columns), np.uint8)
    for some in _slabs(flows.number, rows):
        stream = _Streams(columns, flows, some)
        relative[stream.rows], said[stream.rows] = stream.relative, stream.judge()
    return Segments(relative=relative, **{name: said & np.uint8(1 << bit) != 0 for bit, name in enumerate(JUDGEMENTS)})


def _slabs(number: Numbers, rows: Numbers) -> Iterator[Numbers]:
    """Part rows that are ordered by flow between flows, into parts of about equal length."""
    flow = number[rows]
    start = 0
    while start < len(rows):
        stop = int(np.searchsorted(flow, flow[min(start + SLAB, len(rows)) - 1], side="right"))
        yield rows[start:stop]
        start = stop


class _Streams:
    """The packets of some flows, direction by direction, each in the order of the file. Local to `analyse_segments`."""

    def __init__(self, columns: Columns, flows: Flows, rows: Numbers) -> None:
        streams = (flows.number[rows] - int(flows.number[rows].min())) * 2 + ~flows.forward[rows]
        self.rows = rows = rows[order_by(streams)]
        self._columns, self._flows = columns, flows
        self._flow, self._forward = flows.number[rows], flows.forward[rows]
        self._first = begins(self._flow * 2 + ~self._forward)
        self._flags = columns.flags[rows]
        self._payload = columns.payload[rows].astype(np.int64)
        self._length = self._payload + (self._flags & SYN != 0) + (self._flags & FIN != 0)
        self._seq, self._ack = columns.seq[rows], columns.ack[rows]
        self.relative = unwrapped(self._seq, self._first)
        reach = np.where(self._flags & RST != 0, LOWEST, self.relative + self._length)
        self._expected = before(running_maximum(reach, self._first), self._first, LOWEST)

    def judge(self) -> NDArray[np.uint8]:
        """Give the bits of what each packet is."""
        repeats, keep_alive, gap = self.compare()
        late, spurious = np.zeros_like(repeats), np.zeros_like(repeats)
        if repeats.any():
            troubled = np.isin(self._flow, np.unique(self._flow[repeats]))
            these = _Streams(self._columns, self._flows, self.rows[troubled])
            late[troubled] = these.overtaken(repeats[troubled])
            spurious[troubled] = these.acknowledged()
        found = (repeats & ~late, repeats & ~late & spurious, late, gap, self.duplicate_acks(), self.zero_windows(), keep_alive)
        said = np.zeros(len(self.rows), np.uint8)
        for bit, mask in enumerate(found):
            said |= mask.view(np.uint8) << np.uint8(bit)
        return said

    def compare(self) -> tuple[Mask, Mask, Mask]:
        """Tell which segments have bytes that are not new, which are keep-alives, and which leave bytes out."""
        plain = self._flags & (SYN | FIN | RST) == 0
        known = self._expected > LOWEST
        keep_alive = known & plain & (self._payload <= 1) & (self.relative == self._expected - 1)
        keep_alive &= (self._payload == 1) | (self._flags & ACK != 0)
        sends = (self._length > 0) & (self._flags & RST == 0)
        repeats = known & sends & (self.relative < self._expected) & ~keep_alive
        return repeats, keep_alive, known & (self._flags & RST == 0) & (self.relative > self._expected)

    def overtaken(self, repeats: Mask) -> Mask:
        """Tell which segments that are not new come right behind a later one, and were not seen before."""
        if not repeats.any():
            return repeats
        time = self._columns.time[self.rows]
        run = np.cumsum(self._first)
        sends = self._length > 0
        grows = sends & (self.relative + self._length > self._expected)
        latest = before(running_maximum(np.where(grows, np.arange(len(time)), -1), self._first), self._first, 0)
        recent = time - time[np.maximum(latest, 0)] < OVERTAKEN
        rows = np.flatnonzero(sends)
        order = rows[np.lexsort((rows, self.relative[rows], run[rows]))]
        seen = np.zeros(len(time), np.bool_)
        seen[order[1:]] = (self.relative[order][1:] == self.relative[order][:-1]) & (run[order][1:] == run[order][:-1])
        late: Mask = repeats & recent & ~seen & (self._flags & SYN == 0)
        return late

    def acknowledged(self) -> Mask:
        """Tell which segments end at or before what the other direction had acknowledged by then (within 2 GB of its start)."""
        order = np.lexsort((self.rows, self._flow))
        first = begins(self._flow[order])
        starts = np.flatnonzero(first)
        run = np.cumsum(first) - 1
        forward = self._forward[order]
        done = np.zeros(len(order), np.bool_)
        for direction in (True, False):
            mine = forward == direction
            opening = np.full(len(starts), -1, np.int64)
            opening[run[mine][::-1]] = order[mine][::-1]  # the first of each flow is written last
            base = opening[run]
            says = ~mine & (self._flags[order] & ACK != 0) & (base >= 0)
            distance = (self._ack[order] - self._seq[base]).astype(np.int32).astype(np.int64)
            covered = running_maximum(np.where(says, distance, LOWEST), first)
            short = (self._seq[order] - self._seq[base] + self._length[order].astype(np.uint32)).astype(np.int32)
            done[order[mine]] = (covered >= short)[mine]
        done &= self._length > 0
        return done

    def duplicate_acks(self) -> Mask:
        """Tell which packets acknowledge again what their direction's packet before did, and say nothing else."""
        bare = (self._length == 0) & (self._flags & (SYN | FIN | RST) == 0) & (self._flags & ACK != 0)
        window = self._columns.window[self.rows].astype(np.int64)
        same = before(self._ack.astype(np.int64), self._first, -1) == self._ack
        same &= before(window, self._first, -1) == window
        again: Mask = bare & same & (window > 0) & (self.relative == self._expected)
        return again

    def zero_windows(self) -> Mask:
        """Tell which packets let the other side send nothing."""
        closed: Mask = (self._columns.window[self.rows] == 0) & (self._flags & (SYN | FIN | RST) == 0)
        return closed
