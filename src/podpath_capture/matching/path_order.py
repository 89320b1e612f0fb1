"""The order in which the packets of one direction of a connection pass the points, by the time
between them.

On one clock time decides. Between two clocks it decides where it differs by more than the clocks
may be wrong, else the TTL, which falls at each router. What is still even is ordered as the other
direction is, the other way round, and as the file has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import TCP
from podpath_capture.matching.clock import Clocks
from podpath_capture.matching.joined import Joined

Numbers = NDArray[np.int64]


class Later(NamedTuple):
    """How much later than one passage another sees the packets of both, in nanoseconds by the first
    host's clock.
    """

    median: int
    spread: int
    """By how much a packet differs from that at most."""


Apart = Mapping[tuple[int, int], Later]
"""By the places of two passages in their list, how far they are apart; what shares no packet is
missing.
"""


PLAUSIBLE = 500_000_000
"""Nanoseconds between points beyond which what looks like the same packet is rather one that was
sent again.
"""
MOST_COPIES = 20
"""Copies of one packet that are compared with each other."""


class PlacedPassage(NamedTuple):
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


def place_passages(
    joined: Joined, clocks: Clocks, passages: Sequence[tuple[int, Numbers]]
) -> list[PlacedPassage]:
    """Look up what orders passages, each given by its number and its packets."""
    time, ttl, depth = (joined.column(name) for name in ("time", "ttl", "depth"))
    placed = []
    for number, rows in passages:
        point = int(joined.point[rows[0]])
        clock = int(clocks.of_point[point])
        times = clocks.correct(clock, time[rows])
        place = int(joined.device[point])
        placed.append(
            PlacedPassage(
                number, rows, times, clock, place, int(ttl[rows].min()), int(depth[rows[0]])
            )
        )
    return placed


def measure_apart(
    joined: Joined, placed: Sequence[PlacedPassage], clocks: Clocks | None = None
) -> Apart:
    """Return the median time between each two passages, over the packets that both show, else over
    segments that begin alike.

    Without `clocks`, only what one clock stamped is compared by time.
    """
    found: dict[tuple[int, int], Later] = {}
    looks = [_Look(joined, each) for each in placed]
    for one in range(len(placed)):
        for other in range(one + 1, len(placed)):
            known = placed[one].clock == placed[other].clock
            if clocks is not None:
                known = clocks.doubt(placed[one].clock, placed[other].clock) is not None
            later = looks[one].until(looks[other], comparable=known)
            if later is not None:
                found[one, other], found[other, one] = later, later._replace(median=-later.median)
    return found


class _Look:
    """What a passage shows, by key, for comparing it with others."""

    def __init__(self, joined: Joined, placed: PlacedPassage) -> None:
        self._joined, self._placed = joined, placed
        self._by_key: dict[bool, tuple[dict[int, int], dict[int, list[int]]]] = {}

    def _is_nameless(self) -> bool:
        """Tell whether none of its packets has what tells it from one that was sent again."""
        return not any(
            self._joined.column(name)[self._placed.rows].any() for name in ("ident", "tsval")
        )

    def until(self, other: _Look, *, comparable: bool) -> Later | None:
        """Say how much later another passage sees the same packets; None where they have nothing in
        common.

        Of what was sent several times the nearest are taken to be the same, if clocks are
        `comparable` and there is nothing else.
        """
        for by_start in (False, True):
            once, often = self._times(by_start=by_start)
            once_there, often_there = other._times(by_start=by_start)
            apart = sorted(
                once_there[key] - time for key, time in once.items() if key in once_there
            )
            median = apart[len(apart) // 2] if apart else 0
            if apart and not (
                comparable
                and abs(median) > PLAUSIBLE
                and self._is_nameless()
                and other._is_nameless()
            ):
                return Later(median, max(apart[-1] - median, median - apart[0]))
            pairs = [
                late - early
                for key in {*once, *often} & {*once_there, *often_there}
                for early in often.get(key, [once.get(key, 0)])[:MOST_COPIES]
                for late in often_there.get(key, [once_there.get(key, 0)])[:MOST_COPIES]
            ]
            nearest = min(pairs, key=abs) if pairs else PLAUSIBLE + 1
            if comparable and abs(nearest) <= PLAUSIBLE:
                return Later(nearest, 0)
        return None

    def _times(self, *, by_start: bool) -> tuple[dict[int, int], dict[int, list[int]]]:
        """Return the times of what stands once and of what stands often; of data by the first byte,
        not the whole packet.
        """
        if by_start not in self._by_key:
            joined, rows, times = self._joined, self._placed.rows, self._placed.times
            values: NDArray[Any] = joined.keys[rows]
            if by_start:
                data = (joined.column("payload")[rows] > 0) & (
                    joined.column("protocol")[rows] == TCP
                )
                rows, times = rows[data], times[data]
                values = (
                    joined.column("seq")[rows].astype(np.int64) << 32 | joined.column("tsval")[rows]
                )
            once = dict(zip(values.tolist(), times.tolist(), strict=True))
            often: dict[int, list[int]] = {}
            if len(once) < len(rows):
                for key, time in zip(values.tolist(), times.tolist(), strict=True):
                    often.setdefault(key, []).append(time)
                often = {key: some for key, some in often.items() if len(some) > 1}
                for key in often:
                    del once[key]
            self._by_key[by_start] = once, often
        return self._by_key[by_start]


class Ordered(NamedTuple):
    """The passages of a way in the order of its packets."""

    placed: tuple[PlacedPassage, ...]
    apart: Apart
    """By their places in this order."""


def order_passages(
    joined: Joined,
    clocks: Clocks,
    placed: Sequence[PlacedPassage],
    back: Callable[[], Sequence[PlacedPassage]],
) -> Ordered:
    """Order passages as packets pass them; `back` gives those of the other direction, by which ties
    are broken.
    """
    apart = measure_apart(joined, placed, clocks)
    wins = [0] * len(placed)
    for at, one in enumerate(placed):
        for place in range(at + 1, len(placed)):
            later = apart.get((at, place))
            first = _by_time(clocks, one, placed[place], later.median if later else None)
            if first is None:
                first = _by_return(joined, one, placed[place], back())
            wins[at if first else place] += 1
    order = sorted(range(len(placed)), key=lambda at: -wins[at])
    places = {at: place for place, at in enumerate(order)}
    moved = {(places[one], places[other]): later for (one, other), later in apart.items()}
    return Ordered(tuple(placed[at] for at in order), moved)


def _by_time(
    clocks: Clocks, one: PlacedPassage, other: PlacedPassage, apart: int | None
) -> bool | None:
    """Tell which of two passages is first, by time and TTL; None where these are even."""
    doubt = clocks.doubt(one.clock, other.clock)
    if apart and doubt is not None and abs(apart) >= doubt:
        return apart > 0
    if one.ttl != other.ttl:
        return one.ttl > other.ttl
    return apart > 0 if apart else None


def _by_return(
    joined: Joined, one: PlacedPassage, other: PlacedPassage, back: Sequence[PlacedPassage]
) -> bool:
    """Tell which of two passages is first where time does not: a device hands a packet up with one
    stamp, but not down.
    """
    for near in back:
        for far in back:
            if (
                near.device == one.device
                and far.device == other.device
                and near.device != far.device
            ):
                later = _Look(joined, near).until(
                    _Look(joined, far), comparable=near.clock == far.clock
                )
                if later and later.median:
                    return later.median < 0
    if one.depth != other.depth:
        return one.depth < other.depth  # a packet is put into a tunnel before it is taken out
    return bool(one.rows[0] < other.rows[0])
