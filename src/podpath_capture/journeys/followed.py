"""One direction of a connection with all of its packets told apart: what each of its passages shows
of each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath_capture.matching.byte_ranges import (
    PassageSegments,
    carries_data,
    cut_to_segments,
    pair_bytes,
)
from podpath_capture.matching.copies import Item, leave_out_repeats, pair_packets
from podpath_capture.matching.matching import Matching
from podpath_capture.matching.path_order import Apart, PlacedPassage

Numbers = NDArray[np.int64]


class Followed(NamedTuple):
    """One way with all of its packets told apart. Local to the package."""

    way: int
    placed: tuple[PlacedPassage, ...]
    shift: tuple[int, ...]
    """For each passage how much later than the first it sees a packet, in nanoseconds by the first
    host's clock.
    """
    spread: tuple[int, ...]
    """By how much that differs from packet to packet."""
    measured: tuple[bool, ...]
    """For each whether that was measured; where no packet is common, it was not, and is 0."""
    segments: tuple[PassageSegments, ...]
    """The data of each; behind the passages, as in the items, the points that packets should have
    come to but never did.
    """
    items: tuple[Item, ...]
    """What not all of them show; all packets, if every one was asked for."""
    base: int
    """The sequence number that counts as 0."""


def follow_way(matching: Matching, way: int, further: int = 0, *, every: bool = False) -> Followed:
    """Tell the packets of a way apart, which ends with a number of `further` points that show none
    of them.
    """
    joined = matching.joined
    placed, apart = matching.ordered(way)
    known = _shifts(apart, len(placed))
    base = _base(matching, way, placed)
    shift: list[int] = []
    spread: list[int] = []
    segments: list[PassageSegments] = []
    control: list[tuple[Numbers, Numbers]] = []
    for at, each in enumerate(placed):
        shift.append(known.get(at, 0))
        spread.append(apart[0, at].spread if (0, at) in apart else 0)
        rows, times = _time_rows(matching, each, shift[-1])
        mine = carries_data(joined, rows)
        segments.append(cut_to_segments(joined, rows[mine], times[mine], base))
        control.append((rows[~mine], times[~mine]))
    nothing = np.zeros(0, np.int64)
    segments += [cut_to_segments(joined, nothing, nothing, base)] * further
    control += [(nothing, nothing)] * further
    beyond = (0,) * further
    return Followed(
        way=way,
        placed=placed,
        shift=(*shift, *beyond),
        spread=(*spread, *beyond),
        measured=tuple(at in known for at in range(len(placed))) + (False,) * further,
        segments=tuple(segments),
        items=(*pair_packets(joined, control, every=every), *pair_bytes(segments, every=every)),
        base=base,
    )


def _time_rows(matching: Matching, passage: PlacedPassage, late: int) -> tuple[Numbers, Numbers]:
    """Return the packets of a passage, each once, and when they would have passed the first one."""
    joined = matching.joined
    point = matching.points[int(joined.point[passage.rows[0]])]
    repeating = bool(point.direction) and not int(joined.column("ifindex")[passage.rows[0]])
    rows = leave_out_repeats(joined, passage.rows, repeating=repeating)
    times = matching.measured.correct(passage.clock, joined.column("time")[rows])
    return rows, times - late


def _shifts(apart: Apart, count: int) -> dict[int, int]:
    """Return how much later than the first each passage is, over others where the two have nothing
    in common.
    """
    known = {0: 0}
    for _ in range(count):
        for at in range(count):
            over = next(
                (other for other in known if at not in known and (other, at) in apart), None
            )
            if over is not None:
                known[at] = known[over] + apart[over, at].median
    return known


def _base(matching: Matching, way: int, placed: Sequence[PlacedPassage]) -> int:
    """Return the initial sequence number of who sends; where nobody saw it, the number that the
    first point saw first.
    """
    known = matching.first_number(way)
    if known is not None:
        return known
    return int(matching.joined.column("seq")[placed[0].rows[0]])
