"""Packets put together to flows: both directions between two ends and ports, within one tunnel
network and one interface.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.net import protocols
from podpath_capture.columns import PacketColumns
from podpath_capture.flows.flow_table import FlowTable, Words

_HALF, _WORD = np.uint64(16), np.uint64(32)
SLAB = 1 << 15
"""Packets that are numbered at once: what is worked on stays in the processor's cache."""
NAMED = (protocols.TCP, protocols.UDP, protocols.SCTP, protocols.ICMP, protocols.ICMPV6)
"""Protocols whose packets have ports, or an identifier that stands for them."""
_NAMED = np.zeros(256, np.bool_)
_NAMED[list(NAMED)] = True
_ECHOES = (0, 8, 128, 129)
_DEVICE = np.uint64(0xFFFFFFFF)
"""The part of a name that is not its network."""
GTP = 2152
"""The port of GTP-U."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """Which flow each packet belongs to."""

    number: NDArray[np.int32]
    """For each packet the number of its flow, from 0 in order of their first packets; -1 for a
    packet that is of none.
    """
    first: NDArray[np.int64]
    """For each flow the row of its first packet."""
    forward: NDArray[np.bool_]
    """For each packet whether it goes the way of its flow's first one."""

    def __len__(self) -> int:
        """Count the flows."""
        return len(self.first)


def number_flows(columns: PacketColumns) -> Flows:
    """Return each packet of TCP, UDP, SCTP and ICMP echo its flow; later fragments, which have no
    ports, are of none.
    """
    count = len(columns)
    number, forward = np.full(count, -1, np.int32), np.zeros(count, np.bool_)
    parted = bool(columns.vni.any() or columns.ifindex.any())
    table, firsts = FlowTable(3 if parted else 2), [np.zeros(0, np.int64)]
    turned = np.zeros(1, np.bool_)
    for start in range(0, count, SLAB):
        slab = slice(start, min(start + SLAB, count))
        named = np.flatnonzero(_named(columns, slab))
        some = slab if len(named) == slab.stop - start else named + start
        names, swapped = _names(columns, some, parted=parted)
        found, begin = table.number(names)
        firsts.append(named.take(begin) + start)
        turned = np.concatenate((turned, swapped.take(begin)))
        number[some] = found - np.int32(1)
        forward[some] = swapped == turned.take(found)
    flows = Flows(number=number, first=np.concatenate(firsts), forward=forward)
    if parted:
        return _join_networks(columns, flows, turned[1:])
    return flows


def find_rows(flows: Flows, numbers: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the packets of some flows, in the order of the file."""
    wanted = np.zeros(len(flows) + 1, np.bool_)  # the last is what is of no flow
    wanted[numbers] = True
    return np.flatnonzero(wanted.take(flows.number))


def _join_networks(columns: PacketColumns, flows: Flows, turned: NDArray[np.bool_]) -> Flows:
    """Join what two networks show of one connection, each one direction alone: Cilium writes the
    sender's identity where a network has its number (bpf/lib/encap.h:__encap_with_nodeid v1.16),
    fabrics that route on both sides number by the receiver, keys of GRE may differ.

    Where more flows have the same ends, or one has both directions, networks have equal addresses.
    """
    both = np.zeros(len(flows), np.bool_)
    both[flows.number[(flows.number >= 0) & ~flows.forward]] = True
    lone = np.flatnonzero(~both & (columns.depth[flows.first] > 0))
    names, _ = _names(columns, flows.first[lone], parted=True)
    names[2] &= _DEVICE
    _, same, count = np.unique(
        np.stack(names, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    same = same.reshape(-1)
    ways = np.bincount(same, weights=turned[lone])
    pairs = np.flatnonzero(((count == 2) & (ways == 1)).take(same))
    if not len(pairs):
        return flows
    order = pairs[np.argsort(same[pairs], kind="stable")]
    kept, gone = lone[order[::2]], lone[order[1::2]]
    into = np.arange(len(flows), dtype=np.int32)
    into[gone] = kept
    left = np.ones(len(flows), np.bool_)
    left[gone] = False
    place = (np.cumsum(left) - 1).astype(np.int32)
    known = flows.number >= 0
    forward, number = flows.forward.copy(), flows.number.copy()
    forward[known] &= left[flows.number[known]]
    number[known] = place[into[flows.number[known]]]
    return Flows(number=number, first=flows.first[left], forward=forward)


def _named(columns: PacketColumns, some: slice) -> NDArray[np.bool_]:
    """Tell which packets are of a flow."""
    protocol = columns.protocol[some]
    named: NDArray[np.bool_] = _NAMED.take(protocol)
    named &= columns.version[some] > 0
    named &= columns.fragment[some] & np.uint16(0x1FFF) == 0
    named &= columns.broken[some] == 0
    icmp = (protocol == protocols.ICMP) | (protocol == protocols.ICMPV6)
    if icmp.any():
        named &= ~icmp | np.isin(columns.icmp_type[some], _ECHOES)
    return named


def _names(
    columns: PacketColumns, some: slice | NDArray[np.int64], *, parted: bool
) -> tuple[list[Words], NDArray[np.bool_]]:
    """Return the words that name each packet's flow, and whether its ends were swapped to make both
    directions the same.
    """
    source = columns.src[some].astype(np.uint64) << _HALF
    source |= columns.sport[some]
    target = columns.dst[some].astype(np.uint64) << _HALF
    target |= columns.dport[some]
    low, high = np.minimum(source, target) << _HALF, np.maximum(source, target) << _HALF
    low |= columns.protocol[some].astype(np.uint16) << np.uint16(1) | (columns.version[some] == 6)
    high |= columns.interface[some]
    names = [low, high]
    if parted:
        both_ways = columns.outer_dport[some] != GTP  # GTP-U numbers each direction by itself
        network = columns.vni[some].astype(np.uint64) * both_ways
        names.append(network << _WORD | columns.ifindex[some])
    return names, source > target
