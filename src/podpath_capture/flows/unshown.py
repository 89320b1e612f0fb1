"""What packets say of others that a capture leaves out without saying so: a filter, a sample or an
export took them, or they went another way.

Data that the other side acknowledges passed somewhere between both; an answer says that it was
asked for. Where no packet of the whole capture is what these tell of, whatever its ends and device,
it was not captured. What may have passed before the capture began is no such thing. Gaps in IP
identifications tell nothing: many hosts count those of all their connections together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import ACK, FIN, RST, SYN, TCP, UDP
from podpath_capture.arrays.segments import (
    LOWEST,
    Runs,
    are_among,
    begins,
    distinct,
    first_of_each,
)
from podpath_capture.columns import PacketColumns
from podpath_capture.decoding.transport_layer import NAMES
from podpath_capture.flows.flows import Flows, find_rows
from podpath_capture.flows.tcp import GAP, SegmentAnalysis
from podpath_capture.flows.unheard import find_requests

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
Slabs = Callable[[], Iterable[PacketColumns]]
BEFORE = 3_000_000_000
"""Nanoseconds after the capture's first packet within which the other side may still acknowledge
what passed before it.
"""
ASKED_BEFORE = 1_000_000_000
"""The same of answers; most take milliseconds."""
LATEST = 15_000_000_000
"""The same of a single answer: a resolver that waits for others may take ten seconds."""
FEW = 2
"""Answers, or one that comes later than any, from which on not all can have been asked for before
the capture began.
"""
LONGEST = 1 << 30
"""Bytes that no gap has."""
FURTHEST = 1 << 26
"""Bytes beyond which an acknowledgment is no connection's own: an old one's is anywhere."""
LOOKED_FOR = 32
"""Pieces of data that the whole capture is searched for; one that is not in it is enough."""
_ANY = 0xFFFF


class Unshown(NamedTuple):
    """A packet that tells of another which the capture does not have."""

    row: int
    what: str
    """What it does, in words that go on from its number."""


class _Piece(NamedTuple):
    """Data that passed, by what a packet says."""

    row: int
    """Of the packet."""
    number: int
    """The sequence number that it begins with."""
    alone: bool
    """True where nothing of its direction is shown, or nothing so late."""
    taker: tuple[int, int]
    """The address and the port of who acknowledges it, and so did not send it."""


class UnshownPackets:
    """Looks for them, some flows after the others. Mutable while it does."""

    def __init__(self, start: int, *, printed: bool = False) -> None:
        """Begin with none; `start` is the time of the capture's first packet. Text that is
        `printed` has a direction's acknowledgments relative to one that it does not say.
        """
        self._start, self._printed = start, printed
        self._pieces: list[_Piece] = []
        self._asked: list[NDArray[np.uint64]] = []
        self._answers: list[tuple[NDArray[np.uint64], NDArray[np.uint64], Rows, Mask]] = []
        self._others: list[NDArray[np.uint64]] = []

    def add(
        self,
        columns: PacketColumns,
        flows: Flows,
        segments: SegmentAnalysis,
        rows: Rows | None = None,
    ) -> None:
        """Look at some flows, all of whose packets these are; `rows` are their places in the
        capture.
        """
        if not len(flows):
            return
        if len(self._pieces) < LOOKED_FOR:
            found = [
                *self._find_gaps(columns, flows, segments),
                *_find_ends(columns, flows, segments),
                *self._find_lone(columns, flows),
            ]
            self._pieces += [
                one if rows is None else one._replace(row=int(rows[one.row])) for one in found
            ]
        self._add_requests(columns, flows, rows)

    def find(self, slabs: Slabs) -> list[Unshown]:
        """Say what no packet of the whole capture is, which `slabs` give; one of each kind, the
        first. Nothing where packets of it could not be read.
        """
        pieces = sorted(self._pieces)[:LOOKED_FOR]
        row = self._find_unasked()
        if not pieces and row is None:
            return []
        left = _find_uncovered(pieces, slabs)
        if left is None:
            return []
        found = []
        for alone, why in (
            (False, "comes behind data that are acknowledged, and that no packet shows"),
            (True, "acknowledges what no packet of the other direction shows"),
        ):
            rows = [piece.row for piece in left if piece.alone is alone]
            found += [Unshown(min(rows), why)] if rows else []
        found += [] if row is None else [Unshown(row, "answers what no packet asks")]
        return found

    def _find_gaps(
        self, columns: PacketColumns, flows: Flows, segments: SegmentAnalysis
    ) -> Iterable[_Piece]:
        """Yield what is missing within directions that are shown, and the other side has."""
        gaps = np.flatnonzero(segments.said & np.uint8(GAP))
        if not len(gaps):
            return
        numbers = distinct(flows.number[gaps])
        numbers = numbers[~are_among(numbers, _list_doubtful(columns, flows, segments))]
        mine = find_rows(flows, numbers)
        mine = mine[columns.flags[mine] & RST == 0]
        if not len(mine):
            return
        yield from _Ways(columns, flows, mine).list_pieces(self._start + BEFORE)

    def _find_lone(self, columns: PacketColumns, flows: Flows) -> Iterable[_Piece]:
        """Yield what connections of which one direction is shown acknowledge later than first."""
        back = np.zeros(len(flows) + 1, np.bool_)  # the last is what is of no flow
        back[flows.number[~flows.forward]] = True
        lone = ~back[:-1] & (columns.protocol[flows.first] == TCP)
        rows = find_rows(flows, np.flatnonzero(lone))
        telling = columns.flags[rows] & (ACK | RST) == ACK
        rows = rows[telling]
        if not len(rows):
            return
        rows = rows[np.argsort(flows.number[rows], kind="stable")]
        runs = Runs(flows.number[rows])
        before = runs.before(columns.ack[rows].astype(np.int64), 0)
        grown = (columns.ack[rows] - before.astype(np.uint32)).view(np.int32)
        growing = (grown > 0) & (grown < LONGEST) & (columns.time[rows] > self._start + BEFORE)
        growing[runs.starts] = False
        some = np.flatnonzero(growing)
        if self._printed:  # the first step leads to numbers that count from another one
            some = some[~begins(flows.number[rows[some]])]
        for at in some[first_of_each(flows.number[rows[some]])].tolist():
            row = int(rows[at])
            taker = int(columns.src[row]), int(columns.sport[row])
            yield _Piece(row, int(before[at]), alone=True, taker=taker)

    def _add_requests(self, columns: PacketColumns, flows: Flows, rows: Rows | None) -> None:
        """Keep the numbers of lookups and pings, and of answers."""
        named = np.flatnonzero((flows.number >= 0) & (columns.protocol != TCP))
        asking, answering = find_requests(columns, named)
        asked, given = named[asking], named[answering]
        given = given[columns.time[given] > self._start + ASKED_BEFORE]
        self._asked.append(distinct(_name(columns, asked, columns.sport[asked])))
        names = _name(columns, given, columns.dport[given])
        first = first_of_each(names)
        places = given[first]
        late = columns.time[places] > self._start + LATEST
        clients = _end(columns.dst, columns.dport, places)
        self._answers.append(
            (names[first], clients, places if rows is None else rows[places], late)
        )
        elsewhere = named[
            (columns.protocol[named] == UDP)
            & (columns.dport[named] != NAMES)
            & (columns.sport[named] != NAMES)
        ]
        self._others.append(distinct(_end(columns.src, columns.sport, elsewhere)))

    def _find_unasked(self) -> int | None:
        """Return the first answer to what nobody asks; None where there is none. Who sends to other
        ports may ask there: NAT has a service's requests for the server's port already where its
        answers come from the service's still.
        """
        if not self._answers:
            return None
        asked = distinct(np.concatenate(self._asked))
        names, clients, rows, late = (
            np.concatenate(parts) for parts in zip(*self._answers, strict=True)
        )
        unasked = ~are_among(names, asked)
        unasked &= ~are_among(clients, distinct(np.concatenate(self._others)))
        if np.count_nonzero(unasked) < FEW:
            unasked &= late
        return int(rows[unasked].min()) if unasked.any() else None


def find_unshown(
    columns: PacketColumns, flows: Flows, segments: SegmentAnalysis, *, printed: bool = False
) -> list[Unshown]:
    """Say what a whole capture, or a `printed` one, leaves out without saying so."""
    if not len(columns):
        return []
    found = UnshownPackets(int(columns.time.min()), printed=printed)
    found.add(columns, flows, segments)
    return found.find(lambda: (columns,))


def _name(columns: PacketColumns, rows: Rows, port: NDArray[np.uint16]) -> NDArray[np.uint64]:
    """Return a word for what asks, or is asked for: its number, and the client's port."""
    protocol = columns.protocol[rows]
    number = np.where(protocol == UDP, columns.query[rows], columns.seq[rows] & np.uint32(_ANY))
    word = number.astype(np.uint64) << np.uint64(24) | port.astype(np.uint64) << np.uint64(8)
    return word | protocol


def _end(address: NDArray[np.uint32], port: NDArray[np.uint16], rows: Rows) -> NDArray[np.uint64]:
    """Return a word for one end of each of some packets."""
    return address[rows].astype(np.uint64) << np.uint64(16) | port[rows]


def _list_doubtful(
    columns: PacketColumns, flows: Flows, segments: SegmentAnalysis
) -> NDArray[np.int32]:
    """Return the flows that are several connections, or whose packets are fragments."""
    broken = segments.reused | (columns.fragment & np.uint16(0x2000) != 0)
    return distinct(flows.number[broken & (flows.number >= 0)])


def _find_ends(columns: PacketColumns, flows: Flows, segments: SegmentAnalysis) -> Iterable[_Piece]:
    """Yield what is acknowledged beyond all that a direction shows, of those whose SYN is shown."""
    usable = np.ones(len(flows) + 1, np.bool_)  # the last is what is of no flow
    usable[[*_list_doubtful(columns, flows, segments).tolist(), -1]] = False
    rows = np.flatnonzero(
        (columns.protocol == TCP) & usable[flows.number] & (columns.flags & RST == 0)
    )
    way = flows.number[rows].astype(np.int64) << 1 | ~flows.forward[rows]
    flags = columns.flags[rows]
    opening = np.flatnonzero(flags & SYN)[::-1]
    base, begun = np.zeros(2 * len(flows), np.uint32), np.zeros(2 * len(flows), np.bool_)
    base[way[opening]], begun[way[opening]] = columns.seq[rows[opening]], True
    reach = _find_reach(columns, rows, way, base)
    begun &= reach < LONGEST
    other = way ^ 1
    beyond = (columns.ack[rows] - base[other]).view(np.int32) - reach[other]
    some = np.flatnonzero((beyond > 0) & (beyond < FURTHEST) & (flags & ACK != 0) & begun[other])
    for at in some[first_of_each(way[some])][:LOOKED_FOR].tolist():
        row, sender = int(rows[at]), int(way[at]) ^ 1
        number = (int(base[sender]) + int(reach[sender])) & 0xFFFFFFFF
        taker = int(columns.src[row]), int(columns.sport[row])
        yield _Piece(row, number, alone=True, taker=taker)


def _find_reach(columns: PacketColumns, rows: Rows, way: Rows, base: NDArray[np.uint32]) -> Rows:
    """Return for each direction how far what is shown of it goes, counted from its SYN; `LONGEST`
    where it sends so much that its numbers may wrap.
    """
    flags = columns.flags[rows]
    length = columns.payload[rows] + (flags & SYN != 0) + (flags & FIN != 0)
    reach = np.zeros(len(base), np.int64)
    sent = np.flatnonzero(length)
    mine, length = way[sent], length[sent].astype(np.int64)
    ends = (columns.seq[rows[sent]] - base[mine]).view(np.int32) + length
    np.maximum.at(reach, mine, ends)
    size = np.bincount(mine, weights=length, minlength=len(base))
    return np.where(size < LONGEST, reach, LONGEST)


class _Ways:
    """The directions of some connections, each in the order of its bytes. Local to
    `UnshownPackets`.
    """

    def __init__(self, columns: PacketColumns, flows: Flows, rows: Rows) -> None:
        way = flows.number[rows].astype(np.int64) << 1 | ~flows.forward[rows]
        order = np.argsort(way, kind="stable")
        self._rows, self._columns = rows[order], columns
        self._way = way[order]
        self._runs = Runs(self._way)
        self._flags = columns.flags[self._rows]

    def list_pieces(self, since: int) -> Iterable[_Piece]:
        """Yield what is missing and acknowledged: of ways whose beginning is not shown, before
        packets `since` a time.
        """
        columns, rows, runs = self._columns, self._rows, self._runs
        relative = runs.unwrapped(columns.seq[rows])
        length = columns.payload[rows] + (self._flags & SYN != 0) + (self._flags & FIN != 0)
        order = np.lexsort((relative, self._way))
        relative, reach = relative[order], (relative + length)[order]
        rows, way = rows[order], self._way[order]
        expected = runs.before(runs.running_maximum(reach), LOWEST)
        begun = runs.spread(np.bitwise_or.reduceat(self._flags, runs.starts)) & SYN != 0
        acknowledged = self._reach_of_acks()[way]
        missing = (expected > LOWEST) & (relative > expected) & (relative - expected < LONGEST)
        missing &= (acknowledged >= relative) & (begun | (columns.time[rows] > since))
        for at in np.flatnonzero(missing)[:LOOKED_FOR].tolist():
            row, gap = int(rows[at]), int(relative[at] - expected[at])
            number = (int(columns.seq[row]) - gap) & 0xFFFFFFFF
            taker = int(columns.dst[row]), int(columns.dport[row])
            yield _Piece(row, number, alone=False, taker=taker)

    def _reach_of_acks(self) -> Rows:
        """Return for each way how far the other one acknowledges it, counted as its own bytes
        are.
        """
        columns, runs = self._columns, self._runs
        telling = np.flatnonzero(self._flags & ACK)
        reach = np.full(int(self._way.max()) + 2, LOWEST)
        if not len(telling):
            return reach
        begin = np.zeros(len(reach), np.uint32)
        begin[self._way[runs.starts]] = columns.seq[self._rows[runs.starts]]
        mine = Runs(self._way[telling])
        acks = columns.ack[self._rows[telling]]
        other = self._way[telling[mine.starts]] ^ 1
        ahead = (acks[mine.starts] - begin[other]).view(np.int32).astype(np.int64)
        furthest = mine.running_maximum(mine.unwrapped(acks))
        ends = np.append(mine.starts[1:], len(acks)) - 1
        reach[other] = ahead + furthest[ends]
        return reach


def _find_uncovered(pieces: list[_Piece], slabs: Slabs) -> list[_Piece] | None:
    """Return the pieces of data whose first byte no packet of the capture has; None where some
    packets are cut, or damaged, so that what they were is not known.
    """
    left = pieces
    for columns in slabs():
        if columns.broken.any():
            return None
        sent = _CarriedBytes(columns)
        left = [piece for piece in left if not sent.covers(piece)]
    return left


class _CarriedBytes:
    """The bytes that packets of TCP carry. Local to `_find_uncovered`."""

    def __init__(self, columns: PacketColumns) -> None:
        rows = np.flatnonzero(columns.protocol == TCP)
        flags, self._seq = columns.flags[rows], columns.seq[rows]
        self._length = columns.payload[rows] + (flags & SYN != 0) + (flags & FIN != 0)
        self._src, self._sport = columns.src[rows], columns.sport[rows]

    def covers(self, piece: _Piece) -> bool:
        """Tell whether a packet that another one than its taker sent has its first byte."""
        mine = np.flatnonzero(np.uint32(piece.number) - self._seq < self._length)
        address, port = piece.taker
        own = (self._src[mine] == address) & (self._sport[mine] == port)
        return bool(len(mine)) and not own.all()
