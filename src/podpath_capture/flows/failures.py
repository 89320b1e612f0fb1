"""Which flows of a capture of any length fail, counted by who was asked, with the first few of
each: one server that refuses thousands hides no other one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import ECHO_REQUESTS, TCP, UDP
from podpath_capture.arrays.segments import begins, distinct, first_of_each, order_by
from podpath_capture.columns import PacketColumns
from podpath_capture.flows.flows import Flows, find_rows
from podpath_capture.flows.tcp_states import WORDS, TcpStates, find_tcp_states
from podpath_capture.flows.unheard import find_requests, find_unheard

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
Asked = tuple[int, int, int, int]
"""Who was asked: the protocol, the IP version, the address as its column has it, the port (0 of
pings).
"""
FIRST = 3
"""Failing flows of each server that are shown, whatever else is."""
PACKETS = 6
"""Packets that are shown of each of these."""
SERVERS = 300
"""Servers whose first failing flows are shown."""
NAMES = 53
_WORKING = ("SF", "S1", "S2", "S3", "OTH", "RSTO", "RSTR")
"""States of connections that were established, or of which nothing is known."""
_WORKS = np.array([word in _WORKING for word in WORDS])
"""Whether each word of `WORDS` is one of them."""


class AskedTally(NamedTuple):
    """How many of those that ask a server are refused, or get no answer."""

    failed: int
    asked: int
    requests: int = 0
    """Name lookups or pings of clients that have an answer to some, each by itself."""
    unheard: int = 0
    """Those of them that nothing answers."""
    rows: tuple[int, ...] = ()
    """Where the first of these stand."""


class Failures:
    """Counts failures, some flows after the others. Mutable while it does."""

    def __init__(self, end: int | None = None) -> None:
        """Begin with none; `end` is when the capture ends, where its flows come in parts."""
        self._end = end
        self._counts: dict[Asked, AskedTally] = {}
        self._shown: dict[Asked, int] = {}
        self._rows: list[Rows] = []
        self.states: Counter[str] = Counter()
        """How many TCP connections went how, by Zeek's word, in the order in which the first of
        each began.
        """

    def add(self, columns: PacketColumns, flows: Flows, rows: Rows | None = None) -> None:
        """Count some flows, all of whose packets these are; `rows` are their places in the
        capture.
        """
        if not len(flows):
            return
        followed = find_tcp_states(columns, flows)
        self._count_states(followed.word[followed.tcp])
        found = _judge(columns, flows, followed)
        for key, some in found.group(np.flatnonzero(found.asked | found.fails)):
            known = self._counts.get(key, AskedTally(0, 0))
            self._counts[key] = known._replace(
                failed=known.failed + int(np.count_nonzero(found.counts[some])),
                asked=known.asked + int(np.count_nonzero(found.asked[some])),
            )
        self._add_unheard(columns, flows, found, rows)
        chosen = self._choose(found)
        mine = find_rows(flows, np.array(chosen, np.int64))
        kept = np.concatenate(
            [mine[flows.number[mine] == number][:PACKETS] for number in chosen] or [mine[:0]]
        )
        self._rows.append(kept if rows is None else rows[kept])

    def _count_states(self, words: NDArray[np.uint8]) -> None:
        """Count the states of some connections."""
        counts = np.bincount(words)
        for word in words[np.sort(first_of_each(words))].tolist():
            self.states[WORDS[word]] += int(counts[word])

    def _choose(self, found: _Judged) -> list[int]:
        """Return the failing flows that are shown: the first few of the first servers."""
        chosen: list[int] = []
        for key, some in found.group(np.flatnonzero(found.fails)):
            if key not in self._shown and len(self._shown) == SERVERS:
                continue
            shown = self._shown.get(key, 0)
            few = some[: FIRST - shown].tolist()
            self._shown[key] = shown + len(few)
            chosen += few
        return chosen

    def _add_unheard(
        self, columns: PacketColumns, flows: Flows, found: _Judged, rows: Rows | None
    ) -> None:
        """Count the requests that nothing answers, of flows that have answers to others."""
        unheard = find_unheard(columns, flows, self._end)
        if not len(unheard):
            return
        ordered = unheard[order_by(flows.number[unheard])]
        starts = np.flatnonzero(begins(flows.number[ordered]))
        mine = flows.number[ordered[starts]].astype(np.int64)
        theirs = find_rows(flows, mine)
        asking = theirs[find_requests(columns, theirs)[0]]
        asked = np.bincount(flows.number[asking], minlength=len(flows))
        places = (ordered if rows is None else rows[ordered]).tolist()
        bounds = pairwise([*starts.tolist(), len(places)])
        shown: list[int] = []
        for key, requests, (start, stop) in zip(
            found.keys(mine), asked[mine].tolist(), bounds, strict=True
        ):
            known = self._counts.get(key, AskedTally(0, 0))
            few = places[start : min(start + max(FIRST - len(known.rows), 0), stop)]
            self._counts[key] = AskedTally(
                known.failed,
                known.asked,
                known.requests + requests,
                known.unheard + stop - start,
                (*known.rows, *few),
            )
            shown += few
        answers = _find_answers(flows, theirs)[mine]
        self._rows += [np.array(shown, np.int64), answers if rows is None else rows[answers]]

    @property
    def rows(self) -> Rows:
        """The packets that are shown, in order."""
        return distinct(np.concatenate([np.zeros(0, np.int64), *self._rows]))

    @property
    def tallies(self) -> Mapping[Asked, AskedTally]:
        """Those that fail some, by who was asked."""
        return {key: tally for key, tally in self._counts.items() if tally.failed or tally.unheard}


def count_failures(columns: PacketColumns, flows: Flows) -> Failures:
    """Count the failures of a whole capture."""
    found = Failures()
    found.add(columns, flows)
    return found


class _Judged(NamedTuple):
    """What each flow is."""

    asked: Mask
    """It asks a server: a SYN, a name lookup, a ping."""
    counts: Mask
    """It is refused, or gets no answer."""
    fails: Mask
    """The same, or its connection fails in another way."""
    names: Sequence[NDArray[Any]]

    def group(self, numbers: Rows) -> list[tuple[Asked, Rows]]:
        """Part flows by who was asked, in the order in which each was asked first."""
        if not len(numbers):
            return []
        protocol, version, server, port = (
            values[numbers].astype(np.uint64) for values in self.names
        )
        words = server << np.uint64(32) | port << np.uint64(16) | protocol << np.uint64(8) | version
        order = np.argsort(words, kind="stable")
        parts = np.split(numbers[order], np.flatnonzero(begins(words[order]))[1:])
        parts.sort(key=lambda part: int(part[0]))
        firsts = np.array([part[0] for part in parts])
        return list(zip(self.keys(firsts), parts, strict=True))

    def keys(self, numbers: Rows) -> Iterator[Asked]:
        """Say of each of some flows who was asked."""
        protocol, version, server, port = (values[numbers].tolist() for values in self.names)
        return zip(protocol, version, server, port, strict=True)


def _find_answers(flows: Flows, rows: Rows) -> Rows:
    """Return for each flow the first of some packets that comes back; 0 where none does."""
    back = rows[~flows.forward[rows]][::-1]
    found = np.zeros(len(flows), np.int64)
    found[flows.number[back]] = back  # the first of each is written last
    return found


def _judge(columns: PacketColumns, flows: Flows, states: TcpStates) -> _Judged:
    first = flows.first
    protocol, dport = columns.protocol[first], columns.dport[first]
    replied = np.zeros(len(flows) + 1, np.bool_)  # the last is what is of no flow
    replied[flows.number.take(np.flatnonzero(~flows.forward))] = True
    pings = np.zeros(len(flows), np.bool_)
    for number, kind in ECHO_REQUESTS.items():
        pings |= (protocol == number) & (columns.icmp_type[first] == kind)
    lookups = (protocol == UDP) & (dport == NAMES)
    silent = (lookups | pings) & ~replied[:-1]
    tcp = protocol == TCP
    refused = tcp & (states.word == WORDS.index("REJ"))
    ahead = states.client_is_first | ~tcp
    server = np.where(ahead, columns.dst[first], columns.src[first])
    port = np.where(ahead, dport, columns.sport[first])
    port = np.where(pings, 0, port)
    return _Judged(
        asked=(tcp & (states.syns > 0)) | lookups | pings,
        counts=refused | silent,
        fails=silent | (tcp & ~_WORKS.take(states.word)),
        names=(protocol, columns.version[first], server, port),
    )
