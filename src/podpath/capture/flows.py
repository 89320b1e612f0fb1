"""Packets put together to flows: both directions between two ends and ports, within one tunnel network and one interface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import Columns
from podpath.net import protocols

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT, _WORD = np.uint64(29), np.uint64(32)
Numbers = NDArray[np.int64]
SLAB = 1 << 15
"""Packets whose keys are made at once: what is worked on stays in the processor's cache."""
NAMED = (protocols.TCP, protocols.UDP, protocols.SCTP, protocols.ICMP, protocols.ICMPV6)
"""Protocols whose packets have ports, or an identifier that stands for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """Which flow each packet belongs to."""

    number: NDArray[np.int64]
    """For each packet the number of its flow, from 0 in order of their first packets; -1 for a packet that is of none."""
    first: NDArray[np.int64]
    """For each flow the row of its first packet."""
    forward: NDArray[np.bool_]
    """For each packet whether it goes the way of its flow's first one."""

    def __len__(self) -> int:
        """Count the flows."""
        return len(self.first)


def number_flows(columns: Columns) -> Flows:
    """Give each packet of TCP, UDP, SCTP and ICMP echo its flow; later fragments, which have no ports, are of none."""
    count = len(columns)
    number, forward = np.full(count, -1, np.int64), np.zeros(count, np.bool_)
    rows = np.flatnonzero(_named(columns))
    if not len(rows):
        return Flows(number=number, first=rows, forward=forward)
    keys, swapped = _keys(columns, rows)
    first = _first_alike(keys)
    begins = first == np.arange(len(rows))
    member = (np.cumsum(begins) - 1)[first]
    if len(rows) == count:
        number, forward = member, swapped == swapped[first]
    else:
        number[rows], forward[rows] = member, swapped == swapped[first]
    return Flows(number=number, first=rows[begins], forward=forward)


def _named(columns: Columns) -> NDArray[np.bool_]:
    """Tell which packets are of a flow."""
    protocols_with_ports = np.zeros(256, np.bool_)
    protocols_with_ports[list(NAMED)] = True
    named = protocols_with_ports[columns.protocol] & (columns.version > 0)
    named &= (columns.fragment & 0x1FFF == 0) & (columns.broken == 0)
    icmp = (columns.protocol == protocols.ICMP) | (columns.protocol == protocols.ICMPV6)
    if icmp.any():
        named &= ~icmp | np.isin(columns.icmp_type, (0, 8, 128, 129))
    return named


def _keys(columns: Columns, rows: Numbers) -> tuple[list[NDArray[np.uint64]], NDArray[np.bool_]]:
    """Give the words that name each packet's flow, and whether its ends were swapped to make both directions the same."""
    count = len(rows)
    ends, rest, swapped = np.empty(count, np.uint64), np.empty(count, np.uint64), np.empty(count, np.bool_)
    for start in range(0, count, SLAB):
        slab = slice(start, start + SLAB)
        some = rows[slab]
        src, dst = columns.src[some].astype(np.uint64), columns.dst[some].astype(np.uint64)
        sport, dport = columns.sport[some].astype(np.uint64), columns.dport[some].astype(np.uint64)
        back = (src > dst) | ((src == dst) & (sport > dport))
        there, here = src << _WORD | dst, dst << _WORD | src
        ends[slab] = np.where(back, here, there)
        there, here = sport << np.uint64(16) | dport, dport << np.uint64(16) | sport
        kind = columns.protocol[some].astype(np.uint64) << np.uint64(1) | (columns.version[some] == 6)
        rest[slab] = np.where(back, here, there) << _WORD | columns.interface[some].astype(np.uint64) << np.uint64(16) | kind
        swapped[slab] = back
    keys = [ends, rest]
    if columns.vni.any() or columns.ifindex.any():
        keys.append(columns.vni[rows].astype(np.uint64) << _WORD | columns.ifindex[rows])
    return keys, swapped


def _first_alike(keys: list[NDArray[np.uint64]]) -> Numbers:
    """Give for each row the first one with the same keys.

    Rows are thrown into slots by a digest, the last ones first, so that a slot shows the first row that came there. Rows that
    find another's keys in their slot are thrown again, by other bits.
    """
    count = len(keys[0])
    digest = np.empty(count, np.uint64)
    for start in range(0, count, SLAB):
        slab = slice(start, start + SLAB)
        mixed = keys[0][slab]
        for key in keys[1:]:
            mixed = (mixed ^ (mixed >> _SHIFT)) * _ODD + key[slab]
        mixed = (mixed ^ (mixed >> _SHIFT)) * _ODD
        digest[slab] = mixed ^ (mixed >> _WORD)
    bits = min(max(count.bit_length(), 8), 20)
    slots = np.empty(1 << bits, np.int32)
    first = np.empty(count, np.int64)
    rows = np.arange(count)
    while len(rows):
        slot = (digest & np.uint64((1 << bits) - 1)).astype(np.int32)
        slots[slot[::-1]] = rows[::-1]
        found = slots[slot].astype(np.int64)
        alike = np.ones(len(rows), np.bool_)
        for key in keys:
            alike &= key[found] == key[rows]
        if alike.all():
            first[rows] = found
            break
        first[rows[alike]] = found[alike]
        rows, digest = rows[~alike], digest[~alike]
        digest = (digest ^ (digest >> _SHIFT)) * _ODD ^ (digest >> np.uint64(bits))
    return first


def select_failing(columns: Columns) -> NDArray[np.int64]:
    """Give the rows of TCP connections that do not come about or are reset, with all ICMP errors."""
    flows = number_flows(columns)
    tcp = (columns.protocol == protocols.TCP) & (flows.number >= 0)
    count = len(flows)
    what = columns.flags & (protocols.SYN | protocols.ACK | protocols.RST)

    def each(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(flows.number[mask & tcp], minlength=count)

    opened, answered = each(what == protocols.SYN), each(what == protocols.SYN | protocols.ACK)
    reset = each(columns.flags & protocols.RST != 0)
    bad = (opened != answered) | (opened > 1) | (answered > 1) | ((opened > 0) & (reset > 0))
    bad &= (opened > 0) | (answered > 0)
    errors = np.isin(columns.icmp_type, (3, 5, 11, 12)) & (columns.protocol == protocols.ICMP)
    errors |= np.isin(columns.icmp_type, (1, 2, 3, 4)) & (columns.protocol == protocols.ICMPV6)
    return np.flatnonzero((tcp & bad[flows.number]) | errors)
