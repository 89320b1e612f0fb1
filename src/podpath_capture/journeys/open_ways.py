"""Which ways need a closer look: where the points do not show the same, found by sums and without a
sort.

A sum over a passage's packets says what it shows: loose keys of what is never cut, and for data a
sum that depends only on how often each byte is in it. Two passages with equal sums show the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import FIN
from podpath_capture.arrays.segments import begins
from podpath_capture.matching.byte_ranges import sends_data, sign_ranges
from podpath_capture.matching.identity import Keys, mix
from podpath_capture.matching.matching import SLAB, Matching


def find_open_ways(matching: Matching) -> list[int]:
    """Return the ways whose passages differ, and those that do not pass the devices that the other
    direction passes.
    """
    passages = matching.passages
    if not len(passages.way):
        return []
    sums = _sum_up(matching)
    count = 2 * len(matching)
    reference = np.zeros(count, np.uint64)
    reference[passages.way] = sums
    differing = np.zeros(count, np.bool_)
    differing[passages.way[sums != reference[passages.way]]] = True
    devices = _device_sets(matching, count)
    differing |= devices != devices[np.arange(count) ^ 1]
    used = np.zeros(count, np.bool_)
    used[passages.way] = True
    return [int(way) for way in np.flatnonzero(differing & used)]


def _sum_up(matching: Matching) -> Keys:
    """Return for each passage a number that depends only on what it shows."""
    joined, number = matching.joined, matching.passages.number
    protocol, flags, seq, payload = (
        joined.column(name) for name in ("protocol", "flags", "seq", "payload")
    )
    sums = np.zeros(
        len(matching.passages.way) + 1, np.uint64
    )  # the last is that of packets of no passage
    for start in range(0, len(joined), SLAB):
        slab = slice(start, start + SLAB)
        data = sends_data(protocol[slab], flags[slab], payload[slab])
        values = mix(joined.loose_keys[slab])
        values *= ~data
        signed = sign_ranges(seq[slab], payload[slab] + (flags[slab] & FIN != 0))
        signed *= data
        values += signed
        np.add.at(sums, number[slab], values)
    return sums[:-1]


def _device_sets(matching: Matching, count: int) -> NDArray[np.uint64]:
    """Return for each way a number that depends only on which devices it passes."""
    devices = int(matching.joined.device.max()) + 1
    words = np.sort(
        matching.passages.way * devices + matching.joined.device[matching.passages.point]
    )
    words = words[begins(words)]
    sets = np.zeros(count, np.uint64)
    np.add.at(sets, words // devices, mix((words % devices + 1).astype(np.uint64)))
    return sets
