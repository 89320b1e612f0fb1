"""How far the clocks of hosts are apart, from packets that passed both of them in both directions.

A packet is captured later downstream than upstream. So what goes from a to b bounds the offset of b's clock from above, and what
comes back bounds it from below, whatever the clocks say; the middle is half of (shortest forward - shortest backward).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.capture.joined import Joined
from podpath.capture.sightings import ClockOffset

MOST = 200_000
"""Packets that are looked at: more tell hardly more."""
Numbers = NDArray[np.int64]


class Clocks(NamedTuple):
    """The clocks of the captures."""

    of_point: Numbers
    """For each point its clock."""
    offsets: tuple[ClockOffset, ...]
    """For each clock; the first host's is 0."""
    apart: dict[tuple[int, int], int]
    """By two clocks, how far the offset between them may be wrong; a pair that is missing was not measured."""

    def correct(self, clock: int, times: Numbers) -> Numbers:
        """Give times by the first host's clock; by their own, where the offset is not known."""
        return times - (self.offsets[clock].nanoseconds or 0)

    def doubt(self, one: int, other: int) -> int | None:
        """Say how far times of two clocks may be wrong against each other; None where nothing is known."""
        if one == other:
            return 0
        first, second = self.offsets[one], self.offsets[other]
        if first.nanoseconds is None or second.nanoseconds is None:
            return None
        return self.apart.get((min(one, other), max(one, other)), first.within + second.within)


class _Bound(NamedTuple):
    """What is known of the offset between two clocks."""

    middle: int
    within: int


def measure_clocks(joined: Joined, way: NDArray[np.int32]) -> Clocks:
    """Estimate the offsets of all clocks against the first one; `way` is the connection's direction of each packet."""
    hosts = list(dict.fromkeys(point.host for point in joined.points))
    of_point = np.array([hosts.index(point.host) for point in joined.points], np.int64)
    bounds = _measure_pairs(joined, way, of_point) if len(hosts) > 1 else {}
    known: dict[int, _Bound] = {0: _Bound(0, 0)}
    while True:
        reachable = [(bound.within, a, b) for (a, b), bound in bounds.items() if (a in known) != (b in known)]  # the surest first
        if not reachable:
            break
        _, a, b = min(reachable)
        bound = bounds[a, b]
        if a in known:
            known[b] = _Bound(known[a].middle + bound.middle, known[a].within + bound.within)
        else:
            known[a] = _Bound(known[b].middle - bound.middle, known[b].within + bound.within)
    offsets = tuple(
        ClockOffset(
            host=host, nanoseconds=known[at].middle if at in known else None, within=known[at].within if at in known else 0
        )
        for at, host in enumerate(hosts)
    )
    return Clocks(of_point, offsets, {pair: bound.within for pair, bound in bounds.items()})


def _measure_pairs(joined: Joined, way: NDArray[np.int32], of_point: Numbers) -> dict[tuple[int, int], _Bound]:
    rows, earlier = _shared(joined, way, of_point)
    if not len(rows):
        return {}
    time, device = joined.column("time"), joined.device[joined.point]
    ahead = time[rows] - time[earlier]
    devices = int(joined.device.max()) + 1
    words = ((way[rows].astype(np.int64) >> 1) * devices + device[earlier]) * devices + device[rows]
    groups, at, place = np.unique(words, return_index=True, return_inverse=True)
    bit = way[rows] & 1
    least, most = np.full((2, len(groups)), np.iinfo(np.int64).max), np.full((2, len(groups)), np.iinfo(np.int64).min)
    np.minimum.at(least, (bit, place), ahead)
    np.maximum.at(most, (bit, place), ahead)
    both = np.flatnonzero((least[0] <= most[0]) & (least[1] <= most[1]))
    away = least[0, both] + most[0, both] > least[1, both] + most[1, both]  # what goes from the first to the second device
    low = np.where(away, most[1, both], most[0, both])
    high = np.where(away, least[0, both], least[1, both])
    clock = of_point[joined.point]
    one, other = clock[earlier[at[both]]], clock[rows[at[both]]]
    turned = one > other
    low, high = np.where(turned, -high, low), np.where(turned, -low, high)
    pairs = np.stack((np.minimum(one, other), np.maximum(one, other)))
    found: dict[tuple[int, int], _Bound] = {}
    for first, second in np.unique(pairs, axis=1).T.tolist():
        mine = (pairs[0] == first) & (pairs[1] == second)
        found[first, second] = _meet(low[mine], high[mine])
    return found


def _shared(joined: Joined, way: NDArray[np.int32], of_point: Numbers) -> tuple[Numbers, Numbers]:
    """Give packets that are seen by two clocks, and for each where it was seen before: those that are surely one packet first."""
    same = joined.same
    clock = of_point[joined.point]
    rows = np.flatnonzero((way >= 0) & (way == way[same]) & (clock != clock[same]))
    sure = (joined.column("ident")[rows] != 0) | (joined.column("tsval")[rows] != 0)
    rows = rows[sure] if sure.any() else rows
    rows = rows[:: len(rows) // MOST + 1]
    return rows, same[rows].astype(np.int64)


def _meet(low: Numbers, high: Numbers) -> _Bound:
    """Put together what connections say of one offset; where they contradict each other (a clock that drifts), the middle one."""
    if low.max() <= high.min():
        return _Bound(int(low.max() + high.min()) // 2, int(high.min() - low.max() + 1) // 2)
    middles, widths = (low + high) // 2, np.abs(high - low) // 2
    return _Bound(int(np.median(middles)), int(np.median(widths)))
