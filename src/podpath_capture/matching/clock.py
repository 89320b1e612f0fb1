"""How far the clocks of hosts are apart, from packets that passed both of them in both directions.

A packet is captured later downstream than upstream. So what goes from a to b bounds the offset of
b's clock from above, and what comes back bounds it from below, whatever the clocks say; the middle
is half of (shortest forward - shortest backward).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.capture.sightings import ClockOffset
from podpath_capture.matching.identity import group_equal
from podpath_capture.matching.joined import Joined

MOST = 20_000
"""Packets that are looked at: more tell hardly more."""
SIGHTINGS = 4
"""How often each of them is looked for, at the most points that are usual."""
ONE_CLOCK = 1_000_000
"""Nanoseconds within which two clocks that may be one are taken to be one: two files of one host,
whose host nobody named.
"""
Numbers = NDArray[np.int64]


class Clocks(NamedTuple):
    """The clocks of the captures."""

    of_point: Numbers
    """For each point its clock."""
    offsets: tuple[ClockOffset, ...]
    """For each clock; the first host's is 0."""
    apart: dict[tuple[int, int], int]
    """By two clocks, how far the offset between them may be wrong; a pair that is missing was not
    measured.
    """

    def correct(self, clock: int, times: Numbers) -> Numbers:
        """Return times by the first host's clock; by their own, where the offset is not known."""
        return times - (self.offsets[clock].nanoseconds or 0)

    def doubt(self, one: int, other: int) -> int | None:
        """Say how far times of two clocks may be wrong against each other; None where nothing is
        known.
        """
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


def measure_clocks(
    joined: Joined, way: NDArray[np.int32], passages: tuple[Numbers, Numbers]
) -> Clocks:
    """Estimate the offsets of all clocks against the first one; `way` is the connection's direction
    of each packet.

    Of passages it takes the way and the point of each.
    """
    hosts = list(dict.fromkeys(point.host for point in joined.points))
    of_point = np.array([hosts.index(point.host) for point in joined.points], np.int64)
    bounds = _measure_pairs(joined, way, passages, of_point) if len(hosts) > 1 else {}
    known: dict[int, _Bound] = {0: _Bound(0, 0)}
    while True:
        reachable = [
            (bound.within, a, b) for (a, b), bound in bounds.items() if (a in known) != (b in known)
        ]  # the surest first
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
            host=host,
            nanoseconds=known[at].middle if at in known else None,
            within=known[at].within if at in known else 0,
        )
        for at, host in enumerate(hosts)
    )
    return Clocks(of_point, offsets, {pair: bound.within for pair, bound in bounds.items()})


def _measure_pairs(
    joined: Joined, way: NDArray[np.int32], passages: tuple[Numbers, Numbers], of_point: Numbers
) -> dict[tuple[int, int], _Bound]:
    """Bound the offset between each two clocks by the packets that devices of both show."""
    rows = _choose_rows(way, passages, of_point)
    if not len(rows):
        return {}
    seen, groups = _tabulate(joined, way, of_point, rows)
    time, ways = joined.column("time"), way[groups]
    clock = np.zeros(len(seen), np.int64)
    clock[joined.device] = of_point
    bounds: dict[tuple[int, int], list[tuple[Numbers, Numbers]]] = {}
    for one in range(len(seen)):
        for other in range(len(seen)):
            both = np.flatnonzero(
                (seen[one] >= 0) & (seen[other] >= 0) & bool(clock[one] < clock[other])
            )
            if len(both):
                ahead = time[seen[other][both]] - time[seen[one][both]]
                bounds.setdefault((int(clock[one]), int(clock[other])), []).append(
                    _bound_each(ahead, ways[both])
                )
    found = {}
    for pair, parts in bounds.items():
        low, high = map(np.concatenate, zip(*parts, strict=True))
        if len(low):
            found[pair] = _meet(low, high)
    return found


def _tabulate(
    joined: Joined, way: NDArray[np.int32], of_point: Numbers, rows: Numbers
) -> tuple[NDArray[np.int32], Numbers]:
    """Return for each device the rows in which it shows packets that more than one clock saw, and
    the first row of each packet.

    A device that shows a packet twice (before and after NAT, say) is left out for it.
    """
    first, mine, clock = (
        group_equal(joined.keys[rows]),
        way.take(rows),
        of_point[joined.point[rows]],
    )
    agrees = mine == mine.take(first)
    shared = np.flatnonzero(agrees & (clock != clock.take(first)))
    sure = (joined.column("ident")[rows[shared]] != 0) | (joined.column("tsval")[rows[shared]] != 0)
    place = np.full(len(rows), -1, np.int32)
    place[first[shared[sure] if sure.any() else shared]] = 0
    groups = np.flatnonzero(place == 0)
    place[groups] = -1
    groups = groups[:: len(groups) // MOST + 1]
    place[groups] = np.arange(len(groups), dtype=np.int32)
    column = place.take(first)
    shown = np.flatnonzero((column >= 0) & agrees)
    some, column = rows[shown], column[shown]
    device = joined.device[joined.point[some]]
    table = np.full((int(joined.device.max()) + 1, len(groups)), -1, np.int32)
    table[device, column] = some
    again = table[device, column] != some
    table[device[again], column[again]] = -1
    return table, rows[groups]


def _choose_rows(
    way: NDArray[np.int32], passages: tuple[Numbers, Numbers], of_point: Numbers
) -> Numbers:
    """Return the packets of connections that more than one clock saw; of many connections, of some
    only.
    """
    ways, points = passages
    count = int(ways.max(initial=-1)) // 2 + 1
    clock, connection = of_point[points], ways >> 1
    lowest, highest = np.full(count, len(points)), np.full(count, -1)
    np.minimum.at(lowest, connection, clock)
    np.maximum.at(highest, connection, clock)
    crossing = np.flatnonzero(lowest < highest)
    packets = np.bincount(way + np.int32(1), minlength=2 * count + 1)[1:].reshape(-1, 2).sum(axis=1)
    some = crossing[:: int(packets[crossing].sum()) // (SIGHTINGS * MOST) + 1]
    chosen = np.zeros(2 * count + 1, np.bool_)  # the last is that of packets of no connection
    chosen[2 * some] = chosen[2 * some + 1] = True
    return np.flatnonzero(chosen.take(way))


def _bound_each(ahead: Numbers, ways: NDArray[np.int32]) -> tuple[Numbers, Numbers]:
    """Return what each connection that passed two devices both ways says of their clocks: at least,
    and at most.
    """
    _, place = np.unique(ways >> 1, return_inverse=True)
    count, bit = int(place.max()) + 1, ways & 1
    least, most = (
        np.full((2, count), np.iinfo(np.int64).max),
        np.full((2, count), np.iinfo(np.int64).min),
    )
    np.minimum.at(least, (bit, place), ahead)
    np.maximum.at(most, (bit, place), ahead)
    both = np.flatnonzero((least[0] <= most[0]) & (least[1] <= most[1]))
    away = (
        least[0, both] + most[0, both] > least[1, both] + most[1, both]
    )  # who opened it is on the first device's side
    return np.where(away, most[1, both], most[0, both]), np.where(
        away, least[0, both], least[1, both]
    )


def _meet(low: Numbers, high: Numbers) -> _Bound:
    """Put together what connections say of one offset; where they contradict each other (a clock
    that drifts), the middle one.

    Where nothing speaks against one clock for both, and the bounds are close, it is taken to be
    one.
    """
    least, most = int(low.max()), int(high.min())
    if least <= most:
        if least <= 0 <= most and most - least < ONE_CLOCK:
            return _Bound(0, max(most, -least))
        return _Bound((least + most) // 2, (most - least + 1) // 2)
    middles, widths = (low + high) // 2, np.abs(high - low) // 2
    return _Bound(int(np.median(middles)), int(np.median(widths)))
