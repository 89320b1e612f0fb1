"""Whether two points lie on one way: a packet that one of them shows was shown by the other one,
too.

Slaves of a bond, or two uplinks, show parts of one connection and never the same packet: what
passes one of them is not lost because the other one does not show it.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from podpath.capture.sightings import PacketLoss
from podpath_capture.journeys.witnesses import NEIGHBOURS
from podpath_capture.matching.matching import Matching


def lies_on_one_way(matching: Matching, loss: PacketLoss) -> bool:
    """Tell whether the point where a packet was last seen and the one that misses it show packets
    in common.

    Those of its own connection, in either direction; where other connections say which way it goes,
    they are believed.
    """
    if loss.basis == NEIGHBOURS:
        return True
    near, far = (_place(matching, point) for point in (loss.last_seen.point, loss.missing_at))
    if near == far:
        return False  # a device shows what it forwards twice, and not always in the same direction
    ways = (2 * loss.connection, 2 * loss.connection + 1)
    return any(_share(matching, way, near, far) for way in ways)


def _share(matching: Matching, way: int, near: tuple[str, str], far: tuple[str, str]) -> bool:
    joined = matching.joined
    rows: dict[tuple[str, str], list[NDArray[np.int64]]] = defaultdict(list)
    for each in matching.order(way):
        rows[_place(matching, int(joined.point[each.rows[0]]))].append(each.rows)
    if near not in rows or far not in rows:
        return False
    one, other = np.concatenate(rows[near]), np.concatenate(rows[far])
    return any(
        bool(np.isin(values[one], values[other]).any())
        for values in (joined.keys, joined.column("seq"))
    )


def _place(matching: Matching, point: int) -> tuple[str, str]:
    """Name a point without its direction: the other way round it is another point of the same
    device.
    """
    found = matching.points[point]
    return found.file, found.device
