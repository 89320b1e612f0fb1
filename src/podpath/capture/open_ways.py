"""Which ways need a closer look: where the points do not show the same, found by sums and without a sort.

A sum over a passage's packets says what it shows: loose keys of what is never cut, and for data a sum that depends only on how
often each byte is in it. Two passages with equal sums show the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podpath.capture.byte_ranges import carries_data, sign_ranges
from podpath.capture.identity import mix
from podpath.capture.matching import Matching
from podpath.net.protocols import FIN

Numbers = NDArray[np.int64]


def find_open_ways(matching: Matching) -> list[int]:
    """Give the ways whose passages differ, and those that do not pass the devices that the other direction passes."""
    joined, passages = matching.joined, matching.passages
    if not len(passages.way):
        return []
    rows = np.flatnonzero(passages.number >= 0)
    data = carries_data(joined)
    length = joined.column("payload").astype(np.int64) + (joined.column("flags") & FIN != 0)
    values = np.where(data, sign_ranges(joined.column("seq"), length), mix(joined.loose_keys))
    sums = np.zeros(len(passages.way), np.uint64)
    np.add.at(sums, passages.number[rows], values[rows])
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


def _device_sets(matching: Matching, count: int) -> NDArray[np.uint64]:
    """Give for each way a number that depends only on which devices it passes."""
    devices = int(matching.joined.device.max()) + 1
    words = np.unique(matching.passages.way * devices + matching.joined.device[matching.passages.point])
    sets = np.zeros(count, np.uint64)
    np.add.at(sets, words // devices, mix((words % devices + 1).astype(np.uint64)))
    return sets
