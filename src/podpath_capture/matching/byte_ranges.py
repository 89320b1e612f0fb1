"""The third tier of identity: the bytes that each passage of a connection shows, whatever segments
they are in.

Offload puts segments together and cuts them, so packets do not compare. What does is how often each
byte passed: the same at two points, unless a copy of it was lost between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import FIN, RST, SYN, TCP
from podpath_capture.arrays.segments import begins, unwrapped
from podpath_capture.matching.copies import ABSENT, Copy, Item, align
from podpath_capture.matching.identity import Keys, mix
from podpath_capture.matching.joined import Joined

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
BEHIND = 1 << 20
"""How far before the first number of a way a segment may begin: what lies further back is taken to
lie 4 GB ahead.
"""


class PassageSegments(NamedTuple):
    """The data of a passage, ordered by where it begins."""

    rows: Numbers
    start: Numbers
    """Relative to the way's first number, without wraps."""
    end: Numbers
    time: Numbers
    stamp: Numbers
    longest: int

    def covering(self, place: int) -> list[Copy]:
        """Return the segments that have a byte, by time."""
        low, high = np.searchsorted(self.start, (place - self.longest, place + 1))
        found = [at for at in range(int(low), int(high)) if self.end[at] > place]
        copies = [Copy(int(self.rows[at]), int(self.time[at]), int(self.stamp[at])) for at in found]
        return sorted(copies, key=lambda copy: copy.time)

    def between(self, low: int, high: int) -> Iterator[tuple[int, int, int]]:
        """Yield each segment that has bytes of a range: its packet, and the first and last of these
        bytes.
        """
        first, last = np.searchsorted(self.start, (low - self.longest, high))
        for at in range(int(first), int(last)):
            if self.end[at] > low:
                yield (
                    int(self.rows[at]),
                    max(low, int(self.start[at])),
                    min(high, int(self.end[at])),
                )


def carries_data(joined: Joined, rows: Numbers) -> Mask:
    """Tell which packets are known by their bytes: data and FINs of TCP."""
    return sends_data(*(joined.column(name)[rows] for name in ("protocol", "flags", "payload")))


def sends_data(
    protocol: NDArray[np.uint8], flags: NDArray[np.uint8], payload: NDArray[np.uint32]
) -> Mask:
    """Tell it of columns."""
    data: Mask = (
        ((payload > 0) | (flags & FIN != 0)) & (flags & (SYN | RST) == 0) & (protocol == TCP)
    )
    return data


def cut_to_segments(joined: Joined, rows: Numbers, times: Numbers, base: int) -> PassageSegments:
    """Return the data packets of a passage by their bytes; `base` is the sequence number that
    counts as 0.
    """
    if not len(rows):
        return PassageSegments(rows, rows, rows, times, rows, 0)
    order = np.argsort(times, kind="stable")
    rows, times = rows[order], times[order]
    seq = joined.column("seq")[rows]
    ahead = (int(seq[0]) - base) % (1 << 32)
    start = unwrapped(seq) + (ahead if ahead < (1 << 32) - BEHIND else ahead - (1 << 32))
    length = joined.column("payload")[rows].astype(np.int64) + (
        joined.column("flags")[rows] & FIN != 0
    )
    by_start = np.argsort(start, kind="stable")
    stamp = joined.column("tsval")[rows].astype(np.int64)
    return PassageSegments(
        rows=rows[by_start],
        start=start[by_start],
        end=(start + length)[by_start],
        time=times[by_start],
        stamp=stamp[by_start],
        longest=int(length.max()),
    )


def sign_ranges(seq: NDArray[np.uint32], length: NDArray[np.integer[Any]]) -> Keys:
    """Return a number for each segment so that the sum over segments depends only on how often each
    byte is in them.
    """
    end = seq + length.astype(np.uint32)
    signed: Keys = mix(end.astype(np.uint64) + np.uint64(1)) - mix(
        seq.astype(np.uint64) + np.uint64(1)
    )
    return signed


def pair_bytes(parts: Sequence[PassageSegments], *, every: bool = False) -> list[Item]:
    """Return the bytes that not all passages show equally often, copy by copy; with `every` those
    that they do, too.
    """
    edges = np.sort(np.concatenate([edge for part in parts for edge in (part.start, part.end)]))
    bounds = edges[begins(edges)]
    if len(bounds) < 2:
        return []
    depth = _depths(parts, bounds)
    differs = (depth != depth[0]).any(axis=0)
    changes = np.ones(len(bounds) - 1, np.bool_)
    changes[1:] = (depth[:, 1:] != depth[:, :-1]).any(axis=0) | (depth[:, 1:].max(axis=0) > 1)
    starts = np.flatnonzero(changes)
    ends = np.append(starts[1:], len(bounds) - 1)
    wanted = differs[starts] | every
    items: list[Item] = []
    for low, high, at in zip(
        bounds[starts[wanted]].tolist(),
        bounds[ends[wanted]].tolist(),
        starts[wanted].tolist(),
        strict=True,
    ):
        if depth[:, at].max() > 1:
            copies = align([part.covering(low) for part in parts])
            found = [Item(rows, low, high) for rows in copies if every or ABSENT in rows]
        else:
            found = list(_once(parts, depth[:, at], low, high))
        items += found
    return _merge(items)


def _depths(parts: Sequence[PassageSegments], bounds: Numbers) -> Numbers:
    """Say for each passage how often each range between two bounds is in its segments."""
    place = np.repeat(np.arange(len(parts)) * len(bounds), [len(part.rows) for part in parts])

    def count(edges: list[Numbers]) -> Numbers:
        """Count how often each bound of each passage is among its edges."""
        at = np.searchsorted(bounds, np.concatenate(edges)) + place
        return np.bincount(at, minlength=len(parts) * len(bounds))

    begins_at, ends_at = count([part.start for part in parts]), count([part.end for part in parts])
    depths: Numbers = np.cumsum((begins_at - ends_at).reshape(len(parts), -1), axis=1)[:, :-1]
    return depths


def _once(parts: Sequence[PassageSegments], depth: Numbers, low: int, high: int) -> Iterator[Item]:
    """Yield bytes that each passage shows at most once, cut as the packets of the last one that
    does.
    """
    shown = np.flatnonzero(depth).tolist()
    if not shown:
        return  # bytes between others that no passage shows
    for row, begin, end in parts[shown[-1]].between(low, high):
        rows = [ABSENT] * len(parts)
        for place in shown[:-1]:
            rows[place] = parts[place].covering(begin)[0].row
        rows[shown[-1]] = row
        yield Item(tuple(rows), begin, end)


def _merge(items: Sequence[Item]) -> list[Item]:
    """Put together bytes of one packet that follow each other and were last shown by that
    packet.
    """
    merged: dict[tuple[int, int], Item] = {}
    for item in sorted(items, key=lambda item: item.begin):
        row = item.rows[item.last]
        before = merged.pop((row, item.begin), None)
        merged[row, item.end] = item if before is None else before._replace(end=item.end)
    return sorted(merged.values(), key=lambda item: item.begin)
