"""Who should have seen a packet next, and whether they could: without such a witness nothing is
called lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import TCP
from podpath_capture.matching.matching import Matching
from podpath_capture.matching.path_order import PlacedPassage

Numbers = NDArray[np.int64]
SAME, REVERSE, NEIGHBOURS = "same direction", "reverse direction", "neighbours"
MOST_NEIGHBOURS = 32
"""Connections that are looked at to know a way: more go the same one."""
LEEWAY = 200_000
"""Nanoseconds by which a packet may be faster or slower than others, where few others were seen."""
OPPOSITE = {"": "", "in": "out", "out": "in"}


class Expected(NamedTuple):
    """A point that packets of a way should come to."""

    point: int
    basis: str


class Watch:
    """What each point could see, and when. Local to `find_losses`."""

    def __init__(self, matching: Matching) -> None:
        """Look at nothing yet."""
        self._matching = matching
        self._times: dict[int, tuple[Numbers, Numbers]] = {}
        self._blind = [self._damaged(file) for file in range(len(matching.joined.files))]
        self.leaking: set[str] = set()
        """Files that leave out packets which passed where they were taken."""

    def _damaged(self, file: int) -> list[tuple[int, int]]:
        """Return the times between which a damaged file shows nothing: from the packet before the
        damage to the one behind it.
        """
        capture = self._matching.joined.files[file].capture
        columns = capture.packets.columns
        found = []
        for damage in capture.damages:
            place = int(np.searchsorted(columns.offset, damage.offset))
            if 0 < place < len(columns):
                found.append((int(columns.time[place - 1]), int(columns.time[place])))
        return found

    def blind(self, point: int, time: int, spread: int) -> str:
        """Say why a point could not see what passed at a time (by the first host's clock); empty
        where it could.
        """
        matching = self._matching
        here = matching.points[point]
        clock = int(matching.measured.of_point[point])
        own = time + (matching.measured.offsets[clock].nanoseconds or 0)
        spread = max(spread, LEEWAY)
        if own - spread <= here.first:
            return "the capture there had not begun"
        if own + spread >= here.last:
            return "the capture there had ended"
        file = matching.joined.place(int(self.around(point)[0][0]))[0]
        if any(begin < own + spread and own - spread < end for begin, end in self._blind[file]):
            return "the capture there is damaged at that time"
        return ""

    def missed(self, point: int) -> int:
        """Say how many packets a point may have missed by its own account."""
        here = self._matching.points[point]
        return here.dropped + here.cut

    def why_missed(self, point: int) -> str:
        """Say why a point may have missed packets."""
        here = self._matching.points[point]
        dropped = f"the kernel dropped {here.dropped} packets there that the capture does not show"
        if here.dropped:
            return dropped
        return f"{here.cut} packets there were cut before the end of their headers"

    def around(self, point: int) -> tuple[Numbers, Numbers]:
        """Return all packets of a point's device, by time, and their times by the first host's
        clock.
        """
        joined, measured = self._matching.joined, self._matching.measured
        device = int(joined.device[point])
        if device not in self._times:
            rows = np.flatnonzero(joined.device[joined.point] == device)
            times = measured.correct(int(measured.of_point[point]), joined.column("time")[rows])
            order = np.argsort(times, kind="stable")
            self._times[device] = rows[order], times[order]
        return self._times[device]


class Ways:
    """Where ways go on, known from other packets than their own. Local to `find_losses`."""

    def __init__(self, matching: Matching) -> None:
        """Look at nothing yet."""
        self._matching = matching
        self._known: dict[tuple[int, ...], tuple[int, ...]] = {}

    def extend(self, way: int, placed: Sequence[PlacedPassage]) -> list[Expected]:
        """Return the points past the last one of a way that its packets should have come to."""
        matching = self._matching
        back = matching.order(way ^ 1)
        tcp = int(matching.joined.column("protocol")[placed[0].rows[0]]) == TCP
        if not back:
            return [Expected(point, NEIGHBOURS) for point in self._as_neighbours(way, placed[-1])]
        if not tcp and not way & 1:
            return []  # answers came: the questions arrived, whichever way they went
        chain = [each.device for each in reversed(back)]
        seen = {each.device for each in placed}
        known = [at for at, device in enumerate(chain) if device in seen]
        if not known:
            return []
        directions = {
            each.device: matching.points[int(matching.joined.point[each.rows[0]])].direction
            for each in back
        }
        points = (
            self._point(device, OPPOSITE[directions[device]]) for device in chain[known[-1] + 1 :]
        )
        return [Expected(point, REVERSE) for point in points if point is not None]

    def _point(self, device: int, direction: str) -> int | None:
        numbers = np.flatnonzero(self._matching.joined.device == device).tolist()
        return next(
            (number for number in numbers if self._matching.points[number].direction == direction),
            None,
        )

    def _as_neighbours(self, way: int, last: PlacedPassage) -> tuple[int, ...]:
        """Return the points that connections with the same server pass behind a passage, as far as
        all of them agree.

        Those of the same client come first, then those to the same port, then all to the same
        address.
        """
        ends = self._ends
        row = int(self._matching.passages.first[last.passage])
        point = int(self._matching.joined.point[row])
        key = (
            point,
            way & 1,
            *(int(ends[name][last.passage]) for name in ("protocol", "server", "port", "client")),
        )
        if key not in self._known:
            alike = (self._matching.passages.point == point) & (
                self._matching.passages.way & 1 == way & 1
            )
            found: tuple[int, ...] = ()
            for names in (
                ("server", "port", "protocol", "client"),
                ("server", "port", "protocol"),
                ("server",),
            ):
                like_it = alike.copy()
                for name in names:
                    like_it &= ends[name] == ends[name][last.passage]
                found = found or self._tails(like_it, point, way)
            self._known[key] = found
        return self._known[key]

    def _tails(self, passages: NDArray[np.bool_], point: int, way: int) -> tuple[int, ...]:
        matching = self._matching
        tails = []
        for other in np.unique(matching.passages.way[passages]).tolist():
            if other == way:
                continue
            points = [int(matching.joined.point[each.rows[0]]) for each in matching.order(other)]
            tail = points[points.index(point) + 1 :]
            if tail:
                tails.append(tail)
            if len(tails) == MOST_NEIGHBOURS:
                break
        alike = takewhile(lambda step: len(set(step)) == 1, zip(*tails, strict=False))
        return tuple(step[0] for step in alike)

    @cached_property
    def _ends(self) -> dict[str, Numbers]:
        """The server's and the client's end of each passage."""
        matching = self._matching
        first, back = matching.passages.first, matching.passages.way & 1 == 1
        src, dst, sport, dport, protocol = (
            matching.joined.column(name)[first].astype(np.int64)
            for name in ("src", "dst", "sport", "dport", "protocol")
        )
        return {
            "protocol": protocol,
            "server": np.where(back, src, dst),
            "port": np.where(back, sport, dport),
            "client": np.where(back, dst, src),
        }
