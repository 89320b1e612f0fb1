"""Packets put together to flows: both directions between two ends and ports, within one tunnel network and one interface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import Columns
from podpath.net import protocols

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
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
    named = np.isin(columns.protocol, NAMED) & (columns.version > 0) & (columns.fragment & 0x1FFF == 0) & (columns.broken == 0)
    icmp = np.isin(columns.protocol, (protocols.ICMP, protocols.ICMPV6))
    named &= ~icmp | np.isin(columns.icmp_type, (0, 8, 128, 129))
    rows = np.flatnonzero(named)
    ends, rest, swapped = _keys(columns, rows)
    number = np.full(len(columns), -1, np.int64)
    if not len(rows):
        return Flows(number=number, first=rows, forward=np.zeros(len(columns), np.bool_))
    order = _group(ends, rest)
    new = np.ones(len(rows), np.bool_)
    new[1:] = (ends[order][1:] != ends[order][:-1]) | (rest[order][1:] != rest[order][:-1])
    groups = np.cumsum(new) - 1
    firsts = order[new]  # the order within a group is that of the file
    rank = np.empty(len(firsts), np.int64)
    rank[np.argsort(firsts, kind="stable")] = np.arange(len(firsts))
    member = np.empty(len(rows), np.int64)
    member[order] = rank[groups]
    number[rows] = member
    first = np.sort(firsts)
    forward = np.zeros(len(columns), np.bool_)
    forward[rows] = swapped == swapped[first][member]
    return Flows(number=number, first=rows[first], forward=forward)


def _keys(columns: Columns, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.bool_]]:
    """Give two words that name each packet's flow, and whether its ends were swapped to make both directions the same."""
    src, dst = columns.src[rows].astype(np.uint64), columns.dst[rows].astype(np.uint64)
    sport, dport = columns.sport[rows].astype(np.uint64), columns.dport[rows].astype(np.uint64)
    swapped = (src > dst) | ((src == dst) & (sport > dport))
    low, high = np.where(swapped, dst, src), np.where(swapped, src, dst)
    near, far = np.where(swapped, dport, sport), np.where(swapped, sport, dport)
    scope = columns.vni[rows].astype(np.uint64) * np.uint64(4) + columns.interface[rows].astype(np.uint64) * np.uint64(1 << 26)
    scope = (scope + columns.ifindex[rows].astype(np.uint64) * _ODD) & np.uint64(0x3FFFFF)
    kind = columns.protocol[rows].astype(np.uint64) << np.uint64(1) | (columns.version[rows] == 6)
    rest = near << np.uint64(48) | far << np.uint64(32) | scope << np.uint64(10) | kind
    return low << np.uint64(32) | high, rest, swapped


def _group(ends: NDArray[np.uint64], rest: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Order packets so that those of one flow stand together, in the order of the file."""
    mixed = (ends ^ (ends >> _SHIFT)) * _ODD + rest
    mixed = (mixed ^ (mixed >> _SHIFT)) * _ODD
    order = np.argsort(mixed, kind="stable")
    same = mixed[order][1:] == mixed[order][:-1]
    alike = (ends[order][1:] == ends[order][:-1]) & (rest[order][1:] == rest[order][:-1])
    return order if bool(np.all(alike[same])) else np.lexsort((rest, ends))  # two flows met in one number: the slower way


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
