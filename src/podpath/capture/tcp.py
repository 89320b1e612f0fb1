"""What one capture point shows of TCP: for each packet whether it repeats, overtakes or misses bytes, for each flow how it went.

Packets of a direction stand together, so that what a receiver keeps in variables is a running maximum here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import Columns
from podpath.capture.flows import Flows
from podpath.capture.segments import LOWEST, Mask, Numbers, Runs, order_by
from podpath.net.protocols import ACK, FIN, RST, SYN, TCP

RETRANSMISSION, SPURIOUS, OUT_OF_ORDER, GAP, DUPLICATE_ACK, ZERO_WINDOW, KEEP_ALIVE = (1 << bit for bit in range(7))
"""Bits of what is said of a packet."""
SLAB = 1 << 15
"""Packets that are looked at together, and the rest of the last one's flow."""
OVERTAKEN = 3_000_000
"""Nanoseconds within which a segment that comes late was overtaken, not sent again, as Wireshark takes it."""
_BARE = SYN | FIN | RST


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments:
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
        """Bytes (or a SYN or FIN) that its direction showed before, or jumped over before, and that are not `out_of_order`."""
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


def analyse_segments(columns: Columns, flows: Flows) -> Segments:
    """Look at all packets of TCP, some flows after the others: what is worked on stays in the processor's cache."""
    relative = np.zeros(len(columns), np.int64)
    said = np.zeros(len(columns), np.uint8)
    for some in _slabs(columns, flows):
        streams = _Streams(columns, flows, some)
        relative[streams.rows], said[streams.rows] = streams.relative, streams.judge()
    return Segments(relative=relative, said=said)


def _slabs(columns: Columns, flows: Flows) -> Iterator[Numbers]:
    """Give the rows of some flows after the others, about `SLAB` rows at a time, each in the order of the file."""
    number = flows.number + np.int32(1)
    part_of_flow = np.cumsum(np.bincount(number)) // SLAB + 1
    kind = np.uint8 if len(number) < SLAB * 254 else np.uint16
    part = part_of_flow.astype(kind).take(number) * ((columns.protocol == TCP) & (flows.number >= 0))
    order = np.argsort(part, kind="stable")  # a radix sort
    bounds = np.cumsum(np.bincount(part, minlength=1))
    yield from (order[start:stop] for start, stop in pairwise(bounds.tolist()) if start < stop)


class _Streams:
    """The packets of some flows, direction by direction, each in the order of the file. Local to `analyse_segments`."""

    def __init__(self, columns: Columns, flows: Flows, rows: Numbers) -> None:
        stream = flows.number.take(rows) << 1
        stream -= stream.min()
        stream += ~flows.forward.take(rows)
        order = order_by(stream)
        self.rows = rows = rows.take(order)
        self._columns, self._stream = columns, stream.take(order)
        self._runs = Runs(self._stream)
        self._flags, self._payload = columns.flags.take(rows), columns.payload.take(rows)
        self._length = self._payload + (self._flags & SYN != 0) + (self._flags & FIN != 0)
        self._seq, self._ack = columns.seq.take(rows), columns.ack.take(rows)
        self.relative = self._runs.unwrapped(self._seq)
        reach = self.relative + self._length
        reach[np.flatnonzero(self._flags & RST)] = LOWEST
        self._expected = self._runs.before(self._runs.running_maximum(reach), LOWEST)

    def judge(self) -> NDArray[np.uint8]:
        """Give the bits of what each packet is."""
        ahead, known = self.relative - self._expected, self._expected > LOWEST
        flags, window = self._flags, self._columns.window.take(self.rows)
        plain, asks, closed = flags & _BARE == 0, flags & (_BARE | ACK) == ACK, window == 0
        keep_alive = known & plain & (self._payload <= 1) & (ahead == -1) & (asks | (self._payload == 1))
        repeats = known & (self._length > 0) & (flags & RST == 0) & (ahead < 0) & ~keep_alive
        again = asks & (self._length == 0) & ~closed & (ahead == 0) & self._runs.repeat(self._ack) & self._runs.repeat(window)
        said: NDArray[np.uint8] = keep_alive.view(np.uint8) * np.uint8(KEEP_ALIVE)
        said |= (known & (flags & RST == 0) & (ahead > 0)).view(np.uint8) * np.uint8(GAP)
        said |= again.view(np.uint8) * np.uint8(DUPLICATE_ACK)
        said |= (closed & plain).view(np.uint8) * np.uint8(ZERO_WINDOW)
        if repeats.any():
            self._judge_repeats(repeats, said)
        return said

    def _judge_repeats(self, repeats: Mask, said: NDArray[np.uint8]) -> None:
        """Add the bits of what is not new; only connections that have such packets are looked at."""
        flow = self._stream >> 1
        troubled = np.zeros(int(flow[-1]) + 1, np.bool_)
        troubled[flow[repeats]] = True
        some = np.flatnonzero(troubled.take(flow))
        again = np.flatnonzero(repeats.take(some))
        late = self._overtaken(some, again)
        said[some[again[late]]] |= np.uint8(OUT_OF_ORDER)
        again = again[~late]
        said[some[again]] |= np.uint8(RETRANSMISSION)
        said[some[again[self._acknowledged(some, again)]]] |= np.uint8(SPURIOUS)

    def _overtaken(self, some: Numbers, again: Numbers) -> Mask:
        """Tell which segments that are not new, of `some`, come right behind a later one, and were not seen before."""
        time, reach = self._columns.time[self.rows[some]], self.relative[some] + self._length[some]
        runs = Runs(self._stream[some])
        grows = (self._length[some] > 0) & (reach > self._expected[some])
        latest = runs.before(runs.running_maximum(np.where(grows, np.arange(len(some)), -1)), -1)
        latest = np.maximum(latest, runs.spread(runs.starts))[again]
        late: Mask = time[again] - time[latest] < OVERTAKEN
        late &= self._flags[some[again]] & SYN == 0
        if late.any():
            late &= ~self._seen(some)[again]
        return late

    def _seen(self, some: Numbers) -> Mask:
        """Tell which of some segments begin as an earlier one of their direction does."""
        sending = np.flatnonzero(self._length[some] > 0)
        relative, stream = self.relative[some[sending]], self._stream[some[sending]]
        order = np.lexsort((relative, stream))
        seen = np.zeros(len(some), np.bool_)
        runs = Runs(stream[order])
        seen[sending[order]] = runs.repeat(relative[order])
        return seen

    def _acknowledged(self, some: Numbers, again: Numbers) -> Mask:
        """Tell which segments, of `some`, end at or before what the other direction had acknowledged by then.

        Both are counted from the direction's first packet, within 2 GB of it.
        """
        stream, seq = self._stream[some], self._seq[some]
        runs = Runs(stream)
        base, names = seq[runs.starts], stream[runs.starts]
        other = np.minimum(np.searchsorted(names, names ^ 1), len(names) - 1)
        distance = (self._ack[some] - runs.spread(base[other])).view(np.int32).astype(np.int64)
        says = (self._flags[some] & ACK != 0) & runs.spread(names[other] == names ^ 1)
        covered = runs.running_maximum(np.where(says, distance, LOWEST))
        places = stream.astype(np.int64) << 40 | self.rows[some]
        latest = np.searchsorted(places, places[again] ^ 1 << 40) - 1
        short = (seq[again] - runs.spread(base)[again] + self._length[some[again]]).view(np.int32)
        done: Mask = (covered[latest] >= short) & (latest >= 0) & (stream[latest] == stream[again] ^ 1)
        return done
