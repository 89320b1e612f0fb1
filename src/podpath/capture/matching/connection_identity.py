"""The second tier of identity: which flows of which points are one connection, whatever NAT made of
their ends.

A flow of one device is cut into instances where its ports are used again. Instances with the same
pair of initial sequence numbers are one connection; those that no point shows from their start, and
what is not TCP, are put together by a vote of the packets that they have in common, and last by
equal ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podpath.capture.arrays.segments import begins
from podpath.capture.matching.joined import Joined
from podpath.net.protocols import ACK, ICMP, ICMPV6, RST, SYN, TCP

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
    flow, flags = joined.flow, joined.column("flags")
    opening = np.flatnonzero(
        (joined.column("protocol") == TCP) & (flow >= 0) & (flags & (SYN | RST) == SYN)
    )
    answers = flags.take(opening) & ACK != 0
    seq, ack = joined.column("seq").take(opening), joined.column("ack").take(opening)
    client = np.where(answers, ack - np.uint32(1), seq).astype(np.int64)
    number, flows, of_opening = flow, len(joined.first_of_flow), flow.take(opening)
    isn = np.full(flows, NONE, np.int64)
    isn[of_opening[::-1]] = client[::-1]  # the first of each flow is written last
    again = np.unique(of_opening[client != isn.take(of_opening)])
    if len(again):
        number = flow.copy()
        isn = _cut(number, isn, again, opening, client)
    count = len(isn)
    server, forward = np.full(count, NONE, np.int64), np.ones(count, np.bool_)
    replies = opening[answers][::-1]
    server[number[replies]] = seq[answers][::-1]
    forward[number[replies]] = ~joined.forward[replies]
    asks = opening[~answers][::-1]
    forward[number[asks]] = joined.forward[asks]
    first = _firsts(joined, number, count, again)
    device = np.full(count, NONE, np.int64)
    used = first < len(joined)
    device[used] = joined.device[joined.point[first[used]]]
    kind = joined.column("icmp_type")[first * used]
    ping = used & np.isin(joined.column("protocol")[first * used], (ICMP, ICMPV6))
    forward[ping] = np.isin(kind[ping], REQUESTS)
    return Instances(number, first, device, isn, server, forward, ping | (isn != NONE))


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
