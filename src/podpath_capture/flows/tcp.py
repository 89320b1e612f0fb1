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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import ACK, FIN, RST, SYN, TCP
from podpath_capture.arrays.segments import LOWEST, Mask, Numbers, Runs, begins, order_by
from podpath_capture.columns import PacketColumns
from podpath_capture.flows.flows import Flows

(
    RETRANSMISSION, SPURIOUS, OUT_OF_ORDER, GAP, DUPLICATE_ACK, ZERO_WINDOW, KEEP_ALIVE,
    KEEP_ALIVE_ACK,
) = (1 << bit for bit in range(8))  # fmt: skip
"""Bits of what is said of a packet."""
SLAB = 1 << 15
"""Packets that are looked at together, and the rest of the last one's flow."""
BLOCK = 1 << 16
"""Packets that are sorted at once to find those of some flows; their places need 16 bits."""
OVERTAKEN = 3_000_000
"""Nanoseconds within which a segment that comes behind later ones is out of order, where the
handshake's round trip is not known, as Wireshark takes it.
"""
AT_ONCE = 20_000_000
"""Nanoseconds within which a sender answers duplicate ACKs with what they ask for."""
ASKED_AGAIN = 2
"""Duplicate ACKs that make a sender send again; others may not have been captured."""
_BARE = SYN | FIN | RST
_PLACE = 40
"""Bits that hold a packet's place in its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentAnalysis:
    """What each packet is; of packets that are no TCP nothing is said (False, 0)."""

    relative: Numbers
    """The sequence number relative to the first of its direction, without wraps."""
    said: NDArray[np.uint8]
    """The bits of what it is."""
    reused: Mask
    """SYNs that begin another connection between the same ends and ports."""

    def _is(self, bit: int) -> Mask:
        mask: Mask = self.said & np.uint8(bit) != 0
        return mask

    @property
    def retransmission(self) -> Mask:
        """Bytes (or a SYN or FIN) that its direction showed before, or jumped over before and that
        are not `out_of_order`.
        """
        return self._is(RETRANSMISSION)

    @property
    def spurious(self) -> Mask:
        """Retransmissions of data that the other side had acknowledged already."""
        return self._is(SPURIOUS)

    @property
    def out_of_order(self) -> Mask:
        """Bytes that come within a round trip of later ones, as Wireshark has it; those that were
        shown before are a `retransmission` too.
        """
        return self._is(OUT_OF_ORDER)

    @property
    def gap(self) -> Mask:
        """Bytes before it were not captured."""
        return self._is(GAP)

    @property
    def duplicate_ack(self) -> Mask:
        """It acknowledges again what its direction's packet before did, and says nothing else; an
        answer to a keep-alive is none.
        """
        return self._is(DUPLICATE_ACK)

    @property
    def zero_window(self) -> Mask:
        """It lets the other side send nothing."""
        return self._is(ZERO_WINDOW)

    @property
    def keep_alive(self) -> Mask:
        """It only asks whether the other side is there."""
        return self._is(KEEP_ALIVE)

    @property
    def keep_alive_ack(self) -> Mask:
        """It only says so."""
        return self._is(KEEP_ALIVE_ACK)


def analyse_segments(columns: PacketColumns, flows: Flows) -> SegmentAnalysis:
    """Look at all packets of TCP, some flows after the others: what is worked on stays in the
    processor's cache.
    """
    relative = np.zeros(len(columns), np.int64)
    said = np.zeros(len(columns), np.uint8)
    reused = find_reused(columns, flows)
    for some in _slabs(columns, flows):
        streams = _Streams(columns, flows, some, reused)
        relative[streams.rows], said[streams.rows] = streams.relative, streams.judge()
    return SegmentAnalysis(relative=relative, said=said, reused=reused)


def find_reused(columns: PacketColumns, flows: Flows) -> Mask:
    """Tell which SYNs begin another connection in a flow: with another number than the SYN before
    it, or than what its direction showed without one.
    """
    found = np.zeros(len(columns), np.bool_)
    known = (columns.protocol == TCP) & (flows.number >= 0)
    rows = np.flatnonzero(known & (columns.flags & (SYN | ACK) == SYN))
    later = flows.first[flows.number[rows]] != rows
    if not later.any():
        return found
    rows = rows[np.isin(flows.number[rows], flows.number[rows[later]])]
    way = flows.number[rows].astype(np.int64) << 1 | ~flows.forward[rows]
    order = np.lexsort((rows, way))
    rows, runs = rows[order], Runs(way[order])
    found[rows] = ~runs.repeat(columns.seq[rows])
    found[rows[runs.starts]] = _are_late(flows, rows[runs.starts])
    return found


def _are_late(flows: Flows, starts: Numbers) -> Mask:
    """Tell which SYNs come after other packets of their direction; there are few."""
    late: Mask = flows.first[flows.number[starts]] != starts
    for place in np.flatnonzero(late & ~flows.forward[starts]).tolist():
        row = int(starts[place])
        mine = slice(int(flows.first[flows.number[row]]), row)
        same = (flows.number[mine] == flows.number[row]) & ~flows.forward[mine]
        late[place] = bool(same.any())
    return late


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


def _part(flow: NDArray[np.int32], anew: Mask) -> NDArray[np.int32]:
    """Tell the connections of flows apart in which some begin anew, by a number."""
    order = order_by(flow - flow.min())
    number: NDArray[np.int32] = np.empty_like(flow)
    number[order] = np.cumsum(begins(flow[order]) | anew[order])
    return number


class _Streams:
    """The packets of some flows, direction by direction, each in the order of the file. Local to
    `analyze_segments`.
    """

    def __init__(self, columns: PacketColumns, flows: Flows, rows: Numbers, reused: Mask) -> None:
        stream = flows.number.take(rows)
        anew = reused.take(rows)
        stream = (_part(stream, anew) if anew.any() else stream) << 1
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
        repeats &= (ahead < -1) | (self.payload <= 1)  # else it goes on behind a keep-alive
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
        if keep_alive.any():
            answers = np.flatnonzero(again)
            answers = answers[self._follow(answers, keep_alive)]
            again[answers] = False
            said[answers] |= np.uint8(KEEP_ALIVE_ACK)
        said |= again.view(np.uint8) * np.uint8(DUPLICATE_ACK)
        said |= (closed & plain).view(np.uint8) * np.uint8(ZERO_WINDOW)
        if repeats.any():
            self._judge_repeats(repeats, said)
        return said

    def _follow(self, places: Numbers, mask: Mask) -> Mask:
        """Tell which packets come after one of the mask as the other direction's last."""
        latest = find_latest_of_other(self.stream, self.rows, places)
        follows: Mask = (latest >= 0) & mask[latest]
        return follows

    def _judge_repeats(self, repeats: Mask, said: NDArray[np.uint8]) -> None:
        """Add the bits of what is not new; only connections that have such packets are looked
        at.
        """
        flow = self.stream >> 1
        troubled = np.zeros(int(flow[-1]) + 1, np.bool_)
        troubled[flow[repeats]] = True
        some = _Repeats(self, np.flatnonzero(troubled.take(flow)), said)
        places = some.places
        again = np.flatnonzero(repeats.take(places))
        done = some.are_acknowledged(again)
        said[places[again[done]]] |= np.uint8(RETRANSMISSION | SPURIOUS)
        again = again[~done]
        late = some.are_overtaken(again)
        said[places[again[late]]] |= np.uint8(OUT_OF_ORDER)
        known = ~late | some.are_seen(again)
        said[places[again[known]]] |= np.uint8(RETRANSMISSION)


def find_latest_of_other(
    stream: NDArray[np.integer[Any]], rows: Numbers, places: Numbers
) -> Numbers:
    """Return for some packets the place of the last one before them that the other direction sent;
    -1 where there is none.
    """
    marks = stream.astype(np.int64) << _PLACE | rows
    latest = np.searchsorted(marks, marks[places] ^ 1 << _PLACE) - 1
    found: Numbers = np.where((latest >= 0) & (stream[latest] == stream[places] ^ 1), latest, -1)
    return found


class _Repeats:
    """The packets of flows in which something is not new. Local to `analyze_segments`."""

    def __init__(self, streams: _Streams, places: Numbers, said: NDArray[np.uint8]) -> None:
        self._all, self.places = streams, places
        self._stream, self._seq, self._ack, self._flags, self._payload, self._length, self._said = (
            values.take(places)
            for values in (
                streams.stream,
                streams.seq,
                streams.ack,
                streams.flags,
                streams.payload,
                streams.length,
                said,
            )
        )
        self._rows = streams.rows.take(places)
        self._time = streams.columns.time.take(self._rows)
        self._runs = Runs(self._stream)

    def are_overtaken(self, again: Numbers) -> Mask:
        """Tell which segments that are not new come within a round trip of the latest new one, and
        neither end where that one does nor are what the other side asks for.
        """
        whole, runs = self._all, self._runs
        expected = whole.expected.take(self.places)
        reach = whole.relative.take(self.places) + self._length
        grows = np.where(reach > expected, np.arange(len(reach)), -1)
        latest = runs.before(runs.running_maximum(grows), -1)
        latest = np.maximum(latest, runs.spread(runs.starts)).take(again)
        waited = self._time[again] - self._time[latest]
        overtaken: Mask = (waited >= 0) & (waited < self._round_trips().take(again))
        overtaken &= reach[again] != expected[again]
        if overtaken.any():
            overtaken &= ~self._are_asked_for(again)
        return overtaken

    def _round_trips(self) -> Numbers:
        """Return for each packet the time from its connection's SYN to the first ACK after it."""
        talk = self._stream >> 1
        talk = talk - talk.min()
        asked = np.full(int(talk.max()) + 1, LOWEST)
        opens = np.flatnonzero(self._flags & (SYN | ACK) == SYN)
        np.maximum.at(asked, talk[opens], self._time[opens])
        acks = np.flatnonzero(self._flags & (SYN | RST | ACK) == ACK)
        asks = np.zeros(int(self._stream.max()) + 1, np.bool_)
        asks[self._stream[opens]] = True
        acks = acks[asks[self._stream[acks]]]
        first = acks[begins(self._stream[acks])]
        took = np.full(len(asked), OVERTAKEN, np.int64)
        took[talk[first]] = self._time[first] - asked[talk[first]]
        each: Numbers = np.where(took > 0, took, OVERTAKEN)[talk]
        return each

    def _are_asked_for(self, again: Numbers) -> Mask:
        """Tell which segments are what the other side has just asked for by duplicate ACKs."""
        numbers = np.arange(len(self._ack))
        changed = np.maximum.accumulate(np.where(self._runs.repeat(self._ack), 0, numbers))
        counted = np.cumsum(self._said & np.uint8(DUPLICATE_ACK) != 0)
        latest = find_latest_of_other(self._stream, self._rows, again)
        asked = counted[latest] - counted[changed[latest]] >= ASKED_AGAIN
        waited = self._time[again] - self._time[latest]
        at_once = (waited >= 0) & (waited < AT_ONCE)
        same = self._ack[latest] == self._seq[again]
        found: Mask = (latest >= 0) & asked & at_once & same
        return found

    def are_seen(self, again: Numbers) -> Mask:
        """Tell which segments begin as an earlier one of their direction does."""
        sending = np.flatnonzero(self._length > 0)
        relative, stream = self._all.relative[self.places[sending]], self._stream[sending]
        order = np.lexsort((relative, stream))
        seen = np.zeros(len(self.places), np.bool_)
        seen[sending[order]] = Runs(stream[order]).repeat(relative[order])
        return seen[again]

    def are_acknowledged(self, again: Numbers) -> Mask:
        """Tell which segments end at or before what the other direction acknowledged last."""
        latest = find_latest_of_other(self._stream, self._rows, again)
        end = self._seq[again] + self._payload[again].astype(np.uint32)
        behind = (self._ack[latest] - end).view(np.int32) >= 0
        says = (latest >= 0) & (self._flags[latest] & ACK != 0)
        done: Mask = says & behind & (self._payload[again] > 0)
        return done
