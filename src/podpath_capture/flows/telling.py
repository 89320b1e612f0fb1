"""Which packets of a long capture matter: those that a reader, or a check, would look at
individually.

A connection that may have failed is shown so that nothing about it changes: every silence keeps the
packets before and after it, and everything that was sent again or reset stays; of what flows in
between a few packets do. Connections that plainly work, and their packets, are only counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.net.addresses import Address
from podpath.net.protocols import ACK, FIN, ICMP, ICMP_ERRORS, ICMPV6, RST, SYN, TCP, UDP
from podpath_capture.arrays.segments import are_among, begins, distinct, order_by
from podpath_capture.columns import PacketColumns, Packets
from podpath_capture.flows.failures import Failures, count_failures
from podpath_capture.flows.flows import SLAB, Flows, find_rows, number_flows
from podpath_capture.flows.mac_changes import find_changing_macs
from podpath_capture.flows.tcp import analyse_segments

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
MOST = 4000
"""Packets that are shown of a long capture: nobody reads more, and each costs a tenth of a
millisecond.
"""
SILENCE = 150_000_000
"""Nanoseconds of silence of one direction whose ends are kept: less than a retransmission waits."""
EDGE = 8
"""Packets at the beginning and the end of a connection that are kept."""
AGAIN = 2
"""Retransmissions of one direction from which on it is looked at: one is a lost packet."""
SHARE = MOST // 4
"""Of each kind that is no connection: ARP, ICMP errors, frames with changing MACs."""


def select_telling(
    packets: Packets,
    flows: Flows | None = None,
    failures: Failures | None = None,
    again: Mask | None = None,
) -> Rows:
    """Return the rows that tell something, in the order of the file: at most `MOST` of connections,
    and some of each other kind.

    `flows` and `failures` where they were numbered, and counted, already, and which packets are
    sent `again`.
    """
    columns = packets.columns
    flows = number_flows(columns) if flows is None else flows
    odd = find_odd(columns, flows, again)
    chosen = np.flatnonzero(odd[flows.number] & (flows.number >= 0))
    failures = count_failures(columns, flows) if failures is None else failures
    others = [
        packets.arps.row,
        np.flatnonzero(find_errors(columns)),
        find_changing_macs(lambda: [(0, columns)], SHARE),
    ]
    return choose(thin(columns, flows, chosen), failures.rows, others, len(columns))


def choose(connections: Rows, failures: Rows, others: Iterable[Rows], count: int) -> Rows:
    """Put together what is shown: the first packets of connections, those of each server's first
    failures, the first ones of each other kind, and where there are failures the last of all
    `count`, which shows how long the capture goes on.
    """
    last = np.arange(count - 1, count) if len(failures) else failures
    parts = [np.asarray(rows[:SHARE], np.int64) for rows in others]
    return distinct(np.concatenate([connections[:MOST], failures, last, *parts]))


def find_left_out(
    columns: PacketColumns, flows: Flows, lines: Sequence[int], begins: Rows | None
) -> tuple[list[int], list[int]]:
    """Return those of some packets behind which others are left out: of their direction of a
    connection, and from their sender to their receiver. Packets go by their numbers from 1, or by
    their lines, where these begin at `begins`, from 0.
    """
    numbers = np.array(lines, np.int64) - 1
    shown = numbers if begins is None else begins.searchsorted(numbers)
    held = shown[flows.number[shown] >= 0]
    mine = find_rows(flows, flows.number[held])
    streams = flows.number[mine].astype(np.int64) * 2 + ~flows.forward[mine]
    found = []
    for rows, stream in ((mine, streams), _select_pairs(columns, shown)):
        cut = find_cut(rows, stream, shown)
        found.append(((cut if begins is None else begins[cut]) + 1).tolist())
    return found[0], found[1]


def find_cut(rows: Rows, streams: NDArray[np.integer[Any]], shown: Rows) -> Rows:
    """Return those of some rows, which are in order, behind which the next one of their stream is
    not shown.
    """
    order = np.argsort(streams, kind="stable")
    rows, streams = rows[order], streams[order]
    seen = are_among(rows, distinct(shown))
    cut: Rows = rows[:-1][seen[:-1] & ~seen[1:] & (streams[1:] == streams[:-1])]
    return cut


def _select_pairs(columns: PacketColumns, shown: Rows) -> tuple[Rows, NDArray[np.uint64]]:
    """Return the packets whose sender and receiver those of packets that are shown are, and others,
    each with a number of both.
    """
    likely = np.zeros(1 << 16, np.bool_)
    likely[_digest(_pair(columns, shown))] = True
    found = []
    for start in range(0, len(columns), SLAB):
        slab = slice(start, start + SLAB)
        mine = likely.take(_digest(_pair(columns, slab))) & (columns.version[slab] > 0)
        found.append(np.flatnonzero(mine) + start)
    rows = np.concatenate(found)
    return rows, _pair(columns, rows)


def _pair(columns: PacketColumns, some: slice | Rows) -> NDArray[np.uint64]:
    return columns.src[some].astype(np.uint64) << np.uint64(32) | columns.dst[some]


def _digest(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Spread words over 16 bits."""
    return (words * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(48)).view(np.int64)


def select_ends(
    packets: Packets, one: tuple[Address | None, int], other: tuple[Address | None, int]
) -> Rows:
    """Return the first `MOST` rows of what is said between two ends, in either direction; no
    address or port 0 stands for any.
    """
    columns = packets.columns
    source = [_is_end(packets, columns.src, columns.sport, end) for end in (one, other)]
    target = [_is_end(packets, columns.dst, columns.dport, end) for end in (one, other)]
    rows: Rows = np.flatnonzero((source[0] & target[1]) | (source[1] & target[0]))[:MOST]
    return rows


def _is_end(
    packets: Packets,
    addresses: NDArray[np.uint32],
    ports: NDArray[np.uint16],
    end: tuple[Address | None, int],
) -> Mask:
    address, port = end
    columns = packets.columns
    mask: Mask = columns.version > 0
    if address is not None:
        value = address.value if address.family == 4 else _number(packets, address.value)
        mask = (columns.version == address.family) & (addresses == np.uint32(value))
    return mask & (ports == port) if port else mask


def _number(packets: Packets, value: int) -> int:
    """Return the number of an IPv6 address; one that no packet has where the capture does not show
    it.
    """
    if value in packets.addresses:
        return packets.addresses.index(value)
    return 0xFFFFFFFF


def find_errors(columns: PacketColumns) -> Mask:
    """Tell which packets are ICMP errors."""
    mask = np.zeros(len(columns), np.bool_)
    for protocol, kinds in ICMP_ERRORS.items():
        mask |= (columns.protocol == protocol) & np.isin(columns.icmp_type, kinds)
    return mask


def find_odd(columns: PacketColumns, flows: Flows, again: Mask | None = None) -> Mask:
    """Tell which flows may have failed: by handshake, reset, retransmissions, or since nothing came
    back. `again` are retransmissions, where they are known.
    """
    count, kind = len(flows), columns.protocol[flows.first]
    rows = np.flatnonzero(
        (columns.flags & (SYN | RST) != 0) & (columns.protocol == TCP) & (flows.number >= 0)
    )
    what = columns.flags.take(rows) & (SYN | ACK | RST)

    def each(some: Rows, apart: int = 1, way: Mask | int = 0) -> Rows:
        """Count rows of each flow."""
        return np.bincount(flows.number.take(some) * apart + way, minlength=count * apart)

    opened, answered = each(rows[what == SYN]), each(rows[what == SYN | ACK])
    odd = (opened != answered) | (opened > 1) | (answered > 1) | (each(rows[what & RST != 0]) > 0)
    if (kind == TCP).any():
        if again is None:
            again = analyse_segments(columns, flows).retransmission
        twice = np.flatnonzero(again)
        odd |= (each(twice, 2, flows.forward.take(twice)).reshape(-1, 2) >= AGAIN).any(axis=1)
    replied = np.zeros(count + 1, np.bool_)  # the last is what is of no flow
    replied[flows.number.take(np.flatnonzero(~flows.forward))] = True
    packets = np.bincount(flows.number + np.int32(1), minlength=count + 1)[1:]
    odd |= (
        ~replied[:-1]
        & (packets > 1)
        & (np.isin(kind, (UDP, ICMP, ICMPV6)) | ((kind == TCP) & (packets > 2)))
    )
    if count:
        return np.asarray(odd, np.bool_)
    return np.zeros(1, np.bool_)


def thin(columns: PacketColumns, flows: Flows, rows: Rows) -> Rows:
    """Leave out of long connections what flows on without telling anything."""
    if not len(rows):
        return rows
    streams = flows.number[rows] * 2 + ~flows.forward[rows]
    order = order_by(streams)
    sorted_rows = rows[order]
    first = begins(streams[order])
    keep = _near_edges(first) | _beside_silence(columns.time[sorted_rows], first)
    keep |= columns.flags[sorted_rows] & (SYN | FIN | RST) != 0
    keep |= _sent_again(columns, sorted_rows, np.cumsum(first))
    kept: Rows = np.sort(sorted_rows[keep])
    return kept


def _near_edges(first: Mask) -> Mask:
    """Tell which rows are among the first or last few of their run."""
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], len(first))
    place = np.arange(len(first))
    run = np.cumsum(first) - 1
    near: Mask = (place - starts[run] < EDGE) | (ends[run] - place <= EDGE)
    return near


def _beside_silence(times: Rows, first: Mask) -> Mask:
    """Tell which rows are followed or preceded by a silence of their own direction."""
    long = np.zeros(len(times), np.bool_)
    long[1:] = (times[1:] - times[:-1] > SILENCE) & ~first[1:]
    beside = long.copy()
    beside[:-1] |= long[1:]
    return beside


def _sent_again(columns: PacketColumns, rows: Rows, run: Rows) -> Mask:
    """Tell which rows carry bytes that another row of their direction carries too, from the same
    number on.
    """
    words = run.astype(np.uint64) << np.uint64(32) | columns.seq[rows].astype(np.uint64)
    carrying = (columns.payload[rows] > 0) & (columns.protocol[rows] == TCP)
    order = np.argsort(words[carrying])
    same = np.diff(words[carrying][order]) == 0
    again = np.zeros(len(rows), np.bool_)
    again[np.flatnonzero(carrying)[order]] = np.append(same, False) | np.append(False, same)
    return again
