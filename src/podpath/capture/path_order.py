"""The order in which the packets of one direction of a connection pass the points, by the time between them.

On one clock time decides. Between two clocks it decides where it differs by more than the clocks may be wrong, else the TTL,
which falls at each router. What is still even is ordered as the other direction is, the other way round, and as the file has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.capture.clock import Clocks
from podpath.capture.joined import Joined

Numbers = NDArray[np.int64]


class Later(NamedTuple):
    """How much later than one passage another sees the packets of both, in nanoseconds by the first host's clock."""

    median: int
    spread: int
    """By how much a packet differs from that at most."""


Apart = Mapping[tuple[int, int], Later]
"""By the places of two passages in their list, how far they are apart; what shares no packet is missing."""


class Placed(NamedTuple):
    """A passage with what orders it."""

    passage: int
    rows: Numbers
    """Its packets, in the order of the file."""
    times: Numbers
    """By the first host's clock, as far as it is known."""
    clock: int
    device: int
    ttl: int
    depth: int


def place_passages(joined: Joined, clocks: Clocks, passages: Sequence[tuple[int, Numbers]]) -> list[Placed]:
    """Look up what orders passages, each given by its number and its packets."""
    time, ttl, depth = (joined.column(name) for name in ("time", "ttl", "depth"))
    placed = []
    for number, rows in passages:
        point = int(joined.point[rows[0]])
        clock = int(clocks.of_point[point])
        times = clocks.correct(clock, time[rows])
        place = int(joined.device[point])
        placed.append(Placed(number, rows, times, clock, place, int(ttl[rows].min()), int(depth[rows[0]])))
    return placed


def measure_apart(joined: Joined, placed: Sequence[Placed]) -> Apart:
    """Give the median time between each two passages, over the packets that both show, else over segments that begin alike."""
    found: dict[tuple[int, int], Later] = {}
    for one in range(len(placed)):
        for other in range(one + 1, len(placed)):
            later = _later(joined, placed[one], placed[other])
            if later is not None:
                found[one, other], found[other, one] = later, later._replace(median=-later.median)
    return found


def _later(joined: Joined, one: Placed, other: Placed) -> Later | None:
    for values in (joined.same, joined.column("seq")):
        mine, its = values[one.rows], values[other.rows]
        (once, here), (once_too, there) = _single(mine), _single(its)
        _, at, place = np.intersect1d(once, once_too, assume_unique=True, return_indices=True)
        if len(at):
            times = other.times[there[place]] - one.times[here[at]]
            median = int(np.median(times))
            return Later(median, int(np.abs(times - median).max()))
        common = np.intersect1d(mine, its)
        if len(common):  # only what was sent several times, so the nearest are taken to be the same
            apart = other.times[its == common[0]][:, None] - one.times[mine == common[0]]
            return Later(int(apart.flat[np.abs(apart).argmin()]), 0)
    return None


def _single(values: NDArray[Any]) -> tuple[NDArray[Any], Numbers]:
    """Give the values that stand only once, and where."""
    found, first, counts = np.unique(values, return_index=True, return_counts=True)
    return found[counts == 1], first[counts == 1]


def order_passages(joined: Joined, clocks: Clocks, placed: Sequence[Placed], back: Sequence[Placed]) -> list[Placed]:
    """Order passages as packets pass them; `back` are those of the other direction, by which ties are broken."""
    if len(placed) < 2:
        return list(placed)
    apart = measure_apart(joined, placed)
    wins = [0] * len(placed)
    for at, one in enumerate(placed):
        for place in range(at + 1, len(placed)):
            later = apart.get((at, place))
            first = _by_time(clocks, one, placed[place], later.median if later else None)
            if first is None:
                first = _by_return(joined, one, placed[place], back)
            wins[at if first else place] += 1
    return [placed[at] for at in sorted(range(len(placed)), key=lambda at: -wins[at])]


def _by_time(clocks: Clocks, one: Placed, other: Placed, apart: int | None) -> bool | None:
    """Tell which of two passages is first, by time and TTL; None where these are even."""
    doubt = clocks.doubt(one.clock, other.clock)
    if apart and doubt is not None and abs(apart) >= doubt:
        return apart > 0
    if one.ttl != other.ttl:
        return one.ttl > other.ttl
    return apart > 0 if apart else None


def _by_return(joined: Joined, one: Placed, other: Placed, back: Sequence[Placed]) -> bool:
    """Tell which of two passages is first where time does not: a device hands a packet up with one stamp, but not down."""
    for near in back:
        for far in back:
            if near.device == one.device and far.device == other.device and near.device != far.device:
                later = _later(joined, near, far)
                if later and later.median:
                    return later.median < 0
    if one.depth != other.depth:
        return one.depth < other.depth  # a packet is put into a tunnel before it is taken out
    return bool(one.rows[0] < other.rows[0])
