"""TCP's numbers as they were on the wire, of packets whose numbers stand as tcpdump prints them.

It prints the numbers of a connection relative to its first packet where it has seen that one, and
no sequence number at all for a bare acknowledgement. Here all are counted from the SYN's again; a
bare acknowledgement gets the number behind the SYN, which is the same at every point. A SYN with
another number on the same ports begins another connection.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import ACK, FIN, RST, SYN, TCP
from podpath_capture.arrays.segments import begins, order_by
from podpath_capture.columns import PacketColumns
from podpath_capture.files.index import Offsets
from podpath_capture.flows.flows import Flows

_WORD, _FAR = 0xFFFFFFFF, 1 << 31
_UNSEEN = np.int64(-1)


def restore_numbers(columns: PacketColumns, flows: Flows) -> None:
    """Put the numbers of the wire in place of those printed."""
    rows = np.flatnonzero((columns.protocol == TCP) & (flows.number >= 0))
    rows = rows[order_by(flows.number[rows].astype(np.int64))]
    flags, seq, ack = (
        columns.flags[rows],
        columns.seq[rows].astype(np.int64),
        columns.ack[rows].astype(np.int64),
    )
    stream = _number_sessions(flows.number[rows], flags, seq) * 2 + flows.forward[rows]
    begun = np.full(int(stream.max(initial=0)) // 2 * 2 + 2, _UNSEEN)
    syns = np.flatnonzero(flags & np.uint8(SYN))[::-1]
    begun[stream[syns]] = seq[syns]  # of several the first
    mine, other = begun[stream], begun[stream ^ 1]
    bare = (columns.payload[rows] == 0) & (flags & np.uint8(SYN | FIN | RST) == 0)
    counted = np.where(bare, 1, _count(seq, mine))
    columns.seq[rows] = np.where(flags & np.uint8(SYN), seq, np.maximum(mine, 0) + counted) & _WORD
    columns.ack[rows] = (
        np.where(flags & np.uint8(ACK), np.maximum(other, 0) + _count(ack, other), 0) & _WORD
    )


def _number_sessions(flow: NDArray[np.int32], flags: NDArray[np.uint8], seq: Offsets) -> Offsets:
    """Return each packet, sorted by flow, the number of its connection."""
    place = np.arange(len(flow))
    first = begins(flow)
    opens = flags & np.uint8(SYN | ACK | FIN | RST) == SYN
    before = np.zeros(len(flow), np.int64)
    before[1:] = np.maximum.accumulate(np.where(opens, place, -1))[:-1]
    start = np.maximum.accumulate(np.where(first, place, 0))
    anew = opens & ~first & (before >= start) & opens[before] & (seq != seq[before])
    sessions: Offsets = np.cumsum(first | anew) - 1
    return sessions


def _count(number: Offsets, first: Offsets) -> Offsets:
    """Count numbers from that of the SYN: tcpdump prints both ways, the first of a connection as it
    is on the wire.
    """
    behind = number - first
    return np.where((first >= 0) & (behind >= 0) & (behind < _FAR), behind, number)
