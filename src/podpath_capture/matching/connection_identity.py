"""The second tier of identity: which flows of which points are one connection, whatever NAT made of
their ends.

A flow of one device is cut into instances where its ports are used again. Instances with the same
pair of initial sequence numbers are one connection; those that no point shows from their start, and
what is not TCP, are put together by a vote of the packets that they have in common, and last by
equal ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import ACK, ICMP, ICMPV6, RST, SYN, TCP
from podpath_capture.arrays.segments import begins
from podpath_capture.matching.joined import Joined

Numbers = NDArray[np.int64]
NONE = -1
REQUESTS = (8, 128)
"""Types of an echo request, of ICMP and ICMPv6."""


@dataclass(frozen=True, slots=True)
class Instances:
    """Connections as single devices show them, a row each. Local to the matching."""

    number: NDArray[np.int32]
    """For each packet its instance; -1 where it has none."""
    first: Numbers
    """For each instance its first packet."""
    device: Numbers
    client_isn: Numbers
    """-1 where its device shows no handshake."""
    server_isn: Numbers
    client_forward: NDArray[np.bool_]
    """Whether the way of the flow's first packet is the client's; true where nothing tells."""
    told: NDArray[np.bool_]
    """Whether something tells who is the client: a handshake, or the type of an echo."""

    def __len__(self) -> int:
        """Count the instances."""
        return len(self.first)


def find_instances(joined: Joined) -> Instances:
    """Cut flows where their ends are used again for another connection."""
    flow, opens = joined.flow, _find_openings(joined)
    number, isn = flow, np.full(len(joined.first_of_flow), NONE, np.int64)
    of_opening = flow.take(opens.rows)
    isn[of_opening[::-1]] = opens.client[::-1]  # the first of each flow is written last
    again = np.unique(of_opening[opens.client != isn.take(of_opening)])
    if len(again):
        number = flow.copy()
        isn = _cut(number, isn, again, opens.rows, opens.client)
    count = len(isn)
    server, forward = np.full(count, NONE, np.int64), np.ones(count, np.bool_)
    replies = opens.rows[opens.answers][::-1]
    server[number[replies]] = opens.seq[opens.answers][::-1]
    forward[number[replies]] = ~joined.forward[replies]
    asks = opens.rows[~opens.answers][::-1]
    forward[number[asks]] = joined.forward[asks]
    first = _firsts(joined, number, count, again)
    used = first < len(joined)
    device = np.full(count, NONE, np.int64)
    device[used] = joined.device[joined.point[first[used]]]
    ping, request = _find_pings(joined, first * used)
    forward[ping & used] = request[ping & used]
    return Instances(number, first, device, isn, server, forward, (ping & used) | (isn != NONE))


class _Openings(NamedTuple):
    """The packets that open TCP connections, SYN and SYN-ACK."""

    rows: Numbers
    answers: NDArray[np.bool_]
    """Which of them are SYN-ACK."""
    seq: Numbers
    client: Numbers
    """The client's initial sequence number, by either."""


def _find_openings(joined: Joined) -> _Openings:
    flags = joined.column("flags")
    opens = flags & (SYN | RST) == SYN
    rows = np.flatnonzero((joined.column("protocol") == TCP) & (joined.flow >= 0) & opens)
    answers = flags.take(rows) & ACK != 0
    seq, ack = joined.column("seq").take(rows), joined.column("ack").take(rows)
    client = np.where(answers, ack - np.uint32(1), seq).astype(np.int64)
    return _Openings(rows, answers, seq, client)


def _find_pings(joined: Joined, rows: Numbers) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which packets are ICMP's, and which of them ask for an echo."""
    ping = np.isin(joined.column("protocol")[rows], (ICMP, ICMPV6))
    return ping, np.isin(joined.column("icmp_type")[rows], REQUESTS)


def _firsts(joined: Joined, number: NDArray[np.int32], count: int, again: Numbers) -> Numbers:
    """Return the first packet of each instance; past the last one for flows of pieces alone, which
    have none.
    """
    first = np.full(count, len(joined), np.int64)
    flows = len(joined.first_of_flow)
    first[:flows] = joined.first_of_flow
    moved = np.zeros(count, np.bool_)
    moved[:flows] = number[joined.first_of_flow] < 0
    moved[again] = moved[flows:] = True
    if moved.any():
        first[moved] = len(joined)
        rows = np.flatnonzero(np.append(moved, np.False_)[number])[::-1]
        first[number[rows]] = rows
    return first


def _cut(
    number: NDArray[np.int32], isn: Numbers, again: Numbers, opening: Numbers, client: Numbers
) -> Numbers:
    """Return new numbers to later connections of the same flows, in `number`; give back all initial
    sequence numbers.
    """
    reused = np.zeros(len(isn), np.bool_)
    reused[again] = True
    rows = np.flatnonzero((number >= 0) & reused[np.maximum(number, 0)])
    rows = rows[np.argsort(number[rows], kind="stable")]
    told = np.full(len(number), NONE, np.int64)
    told[opening] = client
    values = told[rows]
    first = begins(number[rows])
    latest = np.maximum.accumulate(np.where(first | (values != NONE), np.arange(len(rows)), 0))
    values = values[latest]
    other = values != isn[number[rows]]
    pairs = np.stack((number[rows][other], values[other]))
    found, place = np.unique(pairs, axis=1, return_inverse=True)
    number[rows[other]] = len(isn) + place.reshape(-1)
    return np.concatenate((isn, found[1]))
