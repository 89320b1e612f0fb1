"""The same packets followed across capture points: `match_captures` puts captures together,
everything else asks its answer.

    matching = match_captures([CapturedFile(name="node1.pcap", capture=read_capture(data), ...)])
    matching.points                       # Point, in the order of the files
    matching.clocks                       # ClockOffset for each host
    len(matching)                         # connections, of TCP, UDP, SCTP and ICMP echo
    matching.connection(0)                # MatchedConnection: passages in order, translations (NAT)
    matching.numbers("node1.pcap")        # for each packet the number of its connection, or -1
    losses.find_losses(matching)          # Losses: lost between X and Y, or merely unseen, and why
    journeys.follow_packets(matching, 0)  # Journey: each packet of a connection across the points
    ladders.lay_out(matching, 0)          # Ladder: the same in columns, ready to be drawn

Theory of operation
-------------------

Nothing in a packet names it. A router decrements its TTL, NAT rewrites its ends, a tunnel wraps it,
a network card cuts it in pieces; so what is the same packet is concluded in steps, of which each
uses what the one before found:

1. `points` parts the files by device and direction. `flows` numbers, file by file, what has the
   same two ends; a flow never crosses a point by itself, since its ends may change there.
2. `identity` gives each packet a key of what nobody on the way rewrites: sequence numbers, flags,
   lengths, timestamps, payload. Equal keys at two points are a hint, not a proof.
3. `connection_identity` cuts each flow where its ports are used again, into *instances*: one
   connection as one device shows it.
4. `linking` joins instances: first by their pair of initial sequence numbers, which are drawn at
   random and which no NAT touches; where those are missing or not unique, by a vote of equal keys;
   last by equal ends. This is a union of sets (`_Links`) that also knows which of two joined
   instances runs the other way round. Now all devices agree on what a connection is, and on who
   its client is.
5. A *passage* is what one point shows of one direction of a connection under one pair of ends; a
   *way* is one direction of a connection, numbered 2n forward and 2n + 1 backward. `clock` bounds
   how far the hosts' clocks are apart, by packets that passed both in both directions. Then
   `path_order` orders the passages of a way by time, and where time does not decide by TTL, by the
   other direction, by tunnels. Between neighbors whose ends differ stands a translation.
6. `copies` and `byte_ranges` align the packets of passages that follow each other, which is done
   only for the ways that somebody asks about. Data are compared byte by byte and not packet by
   packet, since offload merges and splits segments. `journeys` draws its conclusions from that.

Everything up to the passages is done with arrays over all packets at once; orders, translations and
alignments are made for one connection at a time, when they are asked for.

Not matched: ARP, ICMP errors (their quotes name their flow), fragments, and what is neither TCP,
UDP, SCTP nor ICMP echo.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from podpath.capture.sightings import ClockOffset, ConnectionDirection, MatchedConnection, Passage
from podpath_capture.arrays.segments import order_by
from podpath_capture.flows.flows import Flows
from podpath_capture.matching.clock import Clocks, measure_clocks
from podpath_capture.matching.connection_identity import NONE, Instances, find_instances
from podpath_capture.matching.joined import Joined
from podpath_capture.matching.linking import Linked, link_instances
from podpath_capture.matching.nat_map import find_translations
from podpath_capture.matching.path_order import (
    Ordered,
    PlacedPassage,
    order_passages,
    place_passages,
)
from podpath_capture.points import CapturedFile, Point

Numbers = NDArray[np.int64]
SLAB = 1 << 15
"""Packets that are looked at together: what is worked on stays in the processor's cache."""


def match_captures(files: Sequence[CapturedFile], flows: Sequence[Flows] | None = None) -> Matching:
    """Follow packets and connections across the points of all captures; `flows` where
    `number_flows` was called already.
    """
    return Matching(files, flows)


@dataclass(frozen=True, slots=True)
class Passages:
    """All passages, a row each. Local to the matching."""

    number: NDArray[np.int32]
    """For each packet its passage; -1 where it has none."""
    way: Numbers
    """For each passage its way: twice the connection's number, and one for the way back."""
    point: Numbers
    first: Numbers
    """The first packet of each."""


class Matching:
    """Captures, matched. What has NumPy in it (`joined`, `passages`, `way`, `order`, `rows`) is for
    this package alone.
    """

    def __init__(self, files: Sequence[CapturedFile], flows: Sequence[Flows] | None = None) -> None:
        """Match."""
        self.joined = Joined(files, flows)
        self.instances: Instances = find_instances(self.joined)
        self.linked: Linked = link_instances(self.joined, self.instances)
        self.passages: Passages = self._find_passages()
        self._orders: dict[int, Ordered] = {}

    @property
    def points(self) -> tuple[Point, ...]:
        """The points, by their numbers."""
        return self.joined.points

    @property
    def clocks(self) -> tuple[ClockOffset, ...]:
        """How far each host's clock is ahead of the first one's."""
        return self.measured.offsets

    def __len__(self) -> int:
        """Count the connections."""
        return self.linked.count

    def __iter__(self) -> Iterator[MatchedConnection]:
        """Return all connections, each made when it is asked for."""
        return (self.connection(number) for number in range(len(self)))

    def numbers(self, file: str) -> tuple[int, ...]:
        """Return for each packet of a file the number of its connection; -1 for what is of none."""
        at = [each.name for each in self.joined.files].index(file)
        part = self.way[self.joined.starts[at] : self.joined.starts[at + 1]]
        return tuple((part >> 1).tolist())

    def connection(self, number: int) -> MatchedConnection:
        """Return one connection as all points show it; `IndexError` where there is none of that
        number.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"expected a connection from 0 to {len(self) - 1}, saw {number}")
        forward, backward = self._describe(2 * number), self._describe(2 * number + 1)
        some = (forward.passages or backward.passages)[0]
        return MatchedConnection(
            number=number,
            protocol=some.ends.protocol,
            client_isn=self.first_number(2 * number),
            server_isn=self.first_number(2 * number + 1),
            forward=forward,
            backward=backward,
        )

    def first_number(self, way: int) -> int | None:
        """Return the initial sequence number of who sends a way; None where nobody saw it."""
        order, starts = self._by_connection
        mine = order[starts[way >> 1] : starts[(way >> 1) + 1]]
        values = self.instances.server_isn if way & 1 else self.instances.client_isn
        return next((value for value in values[mine].tolist() if value != NONE), None)

    def _describe(self, way: int) -> ConnectionDirection:
        passages = tuple(self._describe_passage(placed) for placed in self.order(way))
        return ConnectionDirection(passages=passages, translations=find_translations(passages))

    def _describe_passage(self, placed: PlacedPassage) -> Passage:
        joined, rows = self.joined, placed.rows
        first, last = int(rows[0]), int(rows[-1])
        return Passage(
            point=int(joined.point[first]),
            ends=joined.ends(first),
            tunnel=joined.tunnel(first),
            ttl=placed.ttl,
            packets=len(rows),
            payload=int(joined.column("payload")[rows].sum()),
            first=joined.sighting(first),
            last=joined.sighting(last),
        )

    def order(self, way: int) -> tuple[PlacedPassage, ...]:
        """Return the passages of a way in the order of its packets."""
        return self.ordered(way).placed

    def ordered(self, way: int) -> Ordered:
        """Return the passages of a way in the order of its packets, with the times between them."""
        if way not in self._orders:
            self._orders[way] = order_passages(
                self.joined, self.measured, self._place(way), lambda: self._place(way ^ 1)
            )
        return self._orders[way]

    def _place(self, way: int) -> list[PlacedPassage]:
        rows = self.rows(way)
        numbers = self.passages.number[rows]
        parts = [(number, rows[numbers == number]) for number in dict.fromkeys(numbers.tolist())]
        if parts:
            return place_passages(self.joined, self.measured, parts)
        return []

    def rows(self, way: int) -> Numbers:
        """Return the packets of a way, file by file, in their order."""
        order, starts = self._by_way
        return order[starts[way] : starts[way + 1]]

    @cached_property
    def measured(self) -> Clocks:
        """The clocks, as the package uses them."""
        return measure_clocks(self.joined, self.way, (self.passages.way, self.passages.point))

    @cached_property
    def _by_way(self) -> tuple[Numbers, Numbers]:
        """The packets of all ways, way by way, and where each begins."""
        numbers = self.way + np.int32(1)
        return order_by(numbers), np.cumsum(np.bincount(numbers, minlength=2 * len(self) + 1))

    @cached_property
    def _by_connection(self) -> tuple[Numbers, Numbers]:
        """The instances of all connections, connection by connection, and where each begins."""
        numbers = self.linked.connection + 1
        return order_by(numbers), np.cumsum(np.bincount(numbers, minlength=len(self) + 1))

    def _find_passages(self) -> Passages:
        """Return the passages numbers."""
        joined, instances, linked = self.joined, self.instances, self.linked
        turned = np.append(
            instances.client_forward ^ linked.flipped, np.True_
        )  # the last is that of packets of no instance
        out = np.array([point.direction == "out" for point in joined.points], np.bool_)
        word, present = np.empty(len(joined), np.int32), np.zeros(4 * len(instances) + 4, np.bool_)
        for start in range(0, len(joined), SLAB):
            slab = slice(start, start + SLAB)
            number = instances.number[slab]
            some = number * 2 + (joined.forward[slab] ^ turned.take(number))
            some *= 2
            if out.any():
                some += out.take(joined.point[slab])
            present[some] = True  # those of no instance have negative words, which stand at the end
            word[slab] = some
        present[4 * len(instances) :] = False
        words = np.flatnonzero(present)
        table = np.full(len(present), NONE, np.int32)
        table[words] = np.arange(len(words))
        of_passage = linked.connection[words >> 2] * 2 + (words >> 1 & 1)
        first = np.zeros(len(words) + 1, np.int64)
        for start in reversed(range(0, len(joined), SLAB)):
            part = word[start : start + SLAB]
            part[:] = table.take(part)
            first[part[::-1]] = np.arange(
                start + len(part) - 1, start - 1, -1
            )  # the first of each is written last
        return Passages(word, of_passage, joined.point[first[:-1]].astype(np.int64), first[:-1])

    @cached_property
    def way(self) -> NDArray[np.int32]:
        """For each packet its way: twice its connection's number, and one for the way back; -1 for
        none.
        """
        table = np.append(self.passages.way, NONE).astype(np.int32)
        return table[self.passages.number]
