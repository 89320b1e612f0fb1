"""The copies of a packet told apart: which sighting here is which sighting there, where the same
thing was sent twice.

Copies have the same key, or carry the same bytes. TCP's timestamp tells those that were sent again;
what has none is paired in the order of time, each with the nearest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath_capture.matching.joined import Joined

Numbers = NDArray[np.int64]
ABSENT = -1
REPEATED = 10_000_000
"""Nanoseconds within which the same packet is shown twice by a capture that sees it on two
devices.
"""
MOST_PAIRS = 40_000
"""Pairs of copies that are weighed against each other; beyond (probes of a closed window) copies
are paired in their order.
"""
MANY = 500
"""Packets from which on what all passages show once is left out before they are looked at one by
one.
"""
_OTHER_STAMP = 1 << 60


class Copy(NamedTuple):
    """A sighting of something that may be shown several times."""

    row: int
    time: int
    """On a time line that is the same for all passages of a way, as far as transit times are
    even.
    """
    stamp: int
    """TCP's timestamp; 0 for none."""


class Item(NamedTuple):
    """One packet, or bytes of one, at the passages of its way."""

    rows: tuple[int, ...]
    """For each passage the packet there; -1 where it is not."""
    begin: int = 0
    end: int = 0
    """The bytes, relative to the way's first; equal for what carries none."""

    @property
    def last(self) -> int:
        """The last passage that shows it."""
        return max(place for place, row in enumerate(self.rows) if row != ABSENT)


def align(copies: Sequence[Sequence[Copy]]) -> list[tuple[int, ...]]:
    """Pair the copies of each passage, in their order, with those of the passage that has most; a
    row for each of these.
    """
    base = max(copies, key=len)
    out = [[ABSENT] * len(copies) for _ in base]
    for place, mine in enumerate(copies):
        for copy, slot in zip(mine, _slots(mine, base), strict=True):
            out[slot][place] = copy.row
    return [tuple(rows) for rows in out]


def _slots(mine: Sequence[Copy], base: Sequence[Copy]) -> list[int]:
    """Choose for each copy one of at least as many others, keeping the order, so that times and
    stamps differ least.
    """
    count, most = len(mine), len(base)
    if count in {0, most} or count * most > MOST_PAIRS:
        return list(range(count))
    room = most - count
    # cost[k] after `at` copies: the least cost when `k` of the others were left out so far
    cost, ways = [0] * (room + 1), []
    for at, copy in enumerate(mine):
        step, chosen = [], []
        best, source = None, 0
        for left_out in range(room + 1):
            if best is None or cost[left_out] < best:
                best, source = cost[left_out], left_out
            step.append(best + _unlike(copy, base[at + left_out]))
            chosen.append(source)
        ways.append(chosen)
        cost = step
    left_out = min(range(room + 1), key=cost.__getitem__)
    slots = []
    for at in range(count - 1, -1, -1):
        slots.append(at + left_out)
        left_out = ways[at][left_out]
    return slots[::-1]


def _unlike(one: Copy, other: Copy) -> int:
    return abs(one.time - other.time) + (
        _OTHER_STAMP if one.stamp and other.stamp and one.stamp != other.stamp else 0
    )


def pair_packets(
    joined: Joined, passages: Sequence[tuple[Numbers, Numbers]], *, every: bool = False
) -> list[Item]:
    """Follow packets that are never cut: each passage is given by its packets and their times.

    What all passages show once is left out, unless `every` packet is asked for.
    """
    if not every and sum(len(rows) for rows, _ in passages) > MANY:
        passages = _leave_out_complete(joined, passages)
    groups: dict[int, list[list[Copy]]] = defaultdict(lambda: [[] for _ in passages])
    stamps = joined.column("tsval")
    for place, (rows, times) in enumerate(passages):
        for row, time, stamp, key in zip(
            rows.tolist(),
            times.tolist(),
            stamps[rows].tolist(),
            joined.keys[rows].tolist(),
            strict=True,
        ):
            groups[key][place].append(Copy(row, time, stamp))
    items: list[Item] = []
    for copies in groups.values():
        if every or any(len(each) != 1 for each in copies):
            items += map(Item, align([sorted(each, key=_time) for each in copies]))
    return _join_rewritten(joined, items)


def _leave_out_complete(
    joined: Joined, passages: Sequence[tuple[Numbers, Numbers]]
) -> list[tuple[Numbers, Numbers]]:
    keys = [joined.keys[rows] for rows, _ in passages]
    found, place, counts = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
    once = np.ones(len(found), np.bool_)
    for mine in np.split(place, np.cumsum([len(each) for each in keys])[:-1]):
        once &= np.bincount(mine, minlength=len(found)) == 1
    complete = np.split(
        (once & (counts == len(passages)))[place], np.cumsum([len(each) for each in keys])[:-1]
    )
    return [
        (rows[~some], times[~some]) for (rows, times), some in zip(passages, complete, strict=True)
    ]


def _time(copy: Copy) -> int:
    return copy.time


def _join_rewritten(joined: Joined, items: Iterable[Item]) -> list[Item]:
    """Join items of which one stands before and one behind a box that gave the packet another
    identification.
    """
    whole: list[Item] = []
    parts: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        if ABSENT in item.rows:
            parts[int(joined.loose_keys[item.rows[item.last]])].append(item)
        else:
            whole.append(item)
    for alike in parts.values():
        joined_items: list[Item] = []
        for item in alike:
            at = next((at for at, other in enumerate(joined_items) if _fit(item, other)), None)
            if at is None:
                joined_items.append(item)
            else:
                joined_items[at] = Item(
                    tuple(max(pair) for pair in zip(item.rows, joined_items[at].rows, strict=True))
                )
        whole += joined_items
    return whole


def _fit(one: Item, other: Item) -> bool:
    return all(ABSENT in pair for pair in zip(one.rows, other.rows, strict=True))


def leave_out_repeats(joined: Joined, rows: Numbers, *, repeating: bool) -> Numbers:
    """Leave out what a capture shows again of the same packet, where it sees one packet on several
    devices.

    With an identification the same packet is known for sure; without, only where the point repeats
    what has one (`repeating`).
    """
    same = joined.keys[rows]
    if len(set(same.tolist())) == len(rows):
        return rows
    time, ident = joined.column("time")[rows], joined.column("ident")[rows]
    order = np.lexsort((time, same))
    again = np.zeros(len(rows), np.bool_)
    near = (same[order][1:] == same[order][:-1]) & (time[order][1:] - time[order][:-1] < REPEATED)
    again[order[1:]] = near
    named = ident != 0
    shown_twice = repeating or (named.any() and 2 * int((again & named).sum()) >= int(named.sum()))
    return rows[~again] if shown_twice else rows[~(again & named)]
