"""What was lost between which points: for each packet that a later point does not show, whether
that point should have and could.

A loss is claimed where the next point was capturing before and after, nothing that it says of
itself (drop counters, cut packets, damage) explains the absence, and the other side did not
acknowledge what is said to be lost. Everything else is `unseen`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from podpath.capture.sightings import Losses, PacketLoss, SeenPacket, Unseen
from podpath.net.protocols import ACK, FIN, RST, SYN, TCP
from podpath_capture.arrays.segments import unwrapped
from podpath_capture.journeys.followed import Followed, follow_way
from podpath_capture.journeys.open_ways import find_open_ways
from podpath_capture.journeys.packet_words import name_packet
from podpath_capture.journeys.witnesses import SAME, Expected, Watch, Ways
from podpath_capture.matching.copies import ABSENT, Item
from podpath_capture.matching.matching import Matching

ACKNOWLEDGED = "the other side acknowledged it"
NEVER_THERE = "its direction was never seen there, and the other side acknowledged what was sent"
UNMEASURED = 20_000_000
"""Nanoseconds that a packet may take between points that have none in common, for all that is
known.
"""
FILTERED = "the capture there leaves out packets of its kind: it shows none, though others did pass"
LEAKING = "the capture there leaves out packets that did pass it, and nobody sent this one again"
AGAIN = 1_000_000
"""Nanoseconds from which on what is sent twice is no copy of what a capture shows on its way."""
INCOMPARABLE = "no clock tells when it should have come there"


def find_losses(matching: Matching, leaking: Iterable[str] = ()) -> Losses:
    """Look for what did not arrive, in all connections. Of files that are known to be `leaking`,
    what nobody sent again is doubtful.
    """
    watch, ways = Watch(matching), Ways(matching)
    watch.leaking.update(leaking)
    lost: list[PacketLoss] = []
    unseen: list[Unseen] = []
    for way in find_open_ways(matching):
        judged = _judge_way(matching, way, watch, ways)
        lost += judged.lost
        unseen += judged.unseen
    doubtful = [loss for loss in lost if _is_doubtful(matching, loss, watch)]
    unseen += _doubt(doubtful)
    known = set(map(id, doubtful))
    lost = [loss for loss in lost if id(loss) not in known]
    lost.sort(key=lambda loss: (loss.connection, loss.seen[0].time))
    return Losses(lost=tuple(lost), unseen=tuple(unseen), leaking=frozenset(watch.leaking))


def _is_doubtful(matching: Matching, loss: PacketLoss, watch: Watch) -> bool:
    """Tell whether a capture that left out packets which did pass it may have left out this one,
    too: nobody sent it again.
    """
    return not loss.resent and matching.points[loss.missing_at].file in watch.leaking


def _doubt(losses: Sequence[PacketLoss]) -> list[Unseen]:
    groups: dict[tuple[int, bool, int], list[PacketLoss]] = {}
    for loss in losses:
        groups.setdefault((loss.connection, loss.forward, loss.missing_at), []).append(loss)
    found: list[Unseen] = []
    for (connection, forward, point), some in groups.items():
        last = sorted((loss.last_seen for loss in some), key=lambda seen: seen.time)
        found.append(
            Unseen(
                connection=connection,
                forward=forward,
                packets=len(some),
                first=last[0],
                last=last[-1],
                missing_at=point,
                why=LEAKING,
            )
        )
    return found


def _judge_way(matching: Matching, way: int, watch: Watch, ways: Ways) -> Losses:
    """Look for what did not arrive in one direction of a connection."""
    placed = matching.order(way)
    further = ways.extend(way, placed)
    expected = [
        *(Expected(int(matching.joined.point[each.rows[0]]), SAME) for each in placed),
        *further,
    ]
    followed = follow_way(matching, way, len(further))
    return _Judge(matching, followed, expected, watch).judge()


class _Missing(NamedTuple):
    """An item with the place that it should have come to, and why it may merely not have been seen
    there.
    """

    item: Item
    place: int
    time: int
    """When it should have come there, by the first host's clock."""
    why: str
    """Empty for a loss."""


class _Judge:
    """Judges the items of a way. Local to `judge_way`."""

    def __init__(
        self, matching: Matching, followed: Followed, expected: list[Expected], watch: Watch
    ) -> None:
        self._matching, self._followed, self._expected, self._watch = (
            matching,
            followed,
            expected,
            watch,
        )
        self._acknowledged = _acknowledged(matching, followed)
        self._picky = _picky_devices(matching, followed.way)

    def judge(self) -> Losses:
        """Tell losses from what was merely not seen."""
        missing = list(self._missing())
        self._find_leaks(missing)
        bypassed = {
            each.place
            for each in missing
            if each.why == ACKNOWLEDGED and self._expected[each.place].basis != SAME
        }
        lost: list[PacketLoss] = []
        unseen: dict[tuple[int, str], list[_Missing]] = {}
        for each in missing:
            why = NEVER_THERE if each.place in bypassed else each.why
            if why:
                unseen.setdefault((each.place, why), []).append(each)
            else:
                lost.append(self._loss(each))
        return Losses(
            lost=tuple(lost),
            unseen=tuple(self._unseen(*key, found) for key, found in unseen.items()),
        )

    def _find_leaks(self, missing: Sequence[_Missing]) -> None:
        """Note which captures leave out what passed them: a later point shows it, or the other side
        acknowledged it.
        """
        for item in self._followed.items:
            for place in range(item.last):
                if item.rows[place] == ABSENT and self._begins_before(item, place):
                    self._note_leak(item, place)
        for each in missing:
            if each.why == ACKNOWLEDGED and self._expected[each.place].basis == SAME:
                self._note_leak(each.item, each.place)

    def _begins_before(self, item: Item, place: int) -> bool:
        """Tell whether an item was seen before a place that does not show it, and behind it."""
        return any(row != ABSENT for row in item.rows[:place])

    def _note_leak(self, item: Item, place: int) -> None:
        point, time = self._expected[place].point, self._due(item, place)
        if not self._watch.blind(point, time, self._followed.spread[place]):
            self._watch.leaking.add(self._matching.points[point].file)

    def _missing(self) -> Iterator[_Missing]:
        """Yield each item that was not seen to the end, with the first place that could have seen
        it, else the first at all.
        """
        items = [item for item in self._followed.items if item.last < len(self._expected) - 1]
        seen_last = [item.last for item in items]
        missed = [_count_below(seen_last, place) for place in range(len(self._expected))]
        for item in items:
            first: _Missing | None = None
            for place in range(item.last + 1, len(self._expected)):
                time = self._due(item, place)
                why = self._why_unseen(item, place, time, missed[place])
                if not why:
                    why = ACKNOWLEDGED if self._was_acknowledged(item) else ""
                    first = _Missing(item, place, time, why)
                    break
                first = first or _Missing(item, place, time, why)
            if first is not None:
                yield first

    def _due(self, item: Item, place: int) -> int:
        """Say when an item should have come to a place, by the first host's clock."""
        joined, row = self._matching.joined, item.rows[item.last]
        clock = int(self._matching.measured.of_point[joined.point[row]])
        offset = self._matching.measured.offsets[clock].nanoseconds or 0
        time = int(joined.column("time")[row]) - offset - self._followed.shift[item.last]
        return time + self._followed.shift[place]

    def _why_unseen(self, item: Item, place: int, time: int, missed: int) -> str:
        """Say why a place may not have seen what it should have; empty where there is no reason."""
        point, spread = self._expected[place].point, self._followed.spread[place]
        if not (self._followed.measured[place] and self._followed.measured[item.last]):
            clocks = self._matching.measured
            own, last = (
                int(clocks.of_point[each]) for each in (point, self._expected[item.last].point)
            )
            doubt = clocks.doubt(own, last)
            if doubt is None:
                return INCOMPARABLE
            spread = doubt + UNMEASURED
        if missed <= self._watch.missed(point):
            return self._watch.why_missed(point)
        joined, row = self._matching.joined, item.rows[item.last]
        left_out = int(joined.device[point]) in self._picky and not joined.column("flags")[row] & (
            SYN | FIN | RST
        )
        return self._watch.blind(point, time, spread) or (FILTERED if left_out else "")

    def _was_acknowledged(self, item: Item) -> bool:
        """Tell whether the other side has what no later place shows, in any copy."""
        row, end = item.rows[item.last], item.end
        if item.begin == end:
            if not self._matching.joined.column("flags")[row] & SYN:
                return False
            end = 1
        if any(self._repeats(item, place) for place in range(item.last + 1, len(self._expected))):
            return False
        return self._acknowledged is not None and self._acknowledged >= end

    def _repeats(self, item: Item, place: int) -> bool:
        """Tell whether a place shows another copy of what it misses."""
        if item.begin < item.end:
            return bool(self._followed.segments[place].covering(item.begin))
        if place >= len(self._followed.placed):
            return False
        joined, row, rows = (
            self._matching.joined,
            item.rows[item.last],
            self._followed.placed[place].rows,
        )
        names = ("flags", "seq", "ack", "payload") if joined.column("protocol")[row] == TCP else ()
        if not names:
            return bool((joined.loose_keys[rows] == joined.loose_keys[row]).any())
        alike = np.ones(len(rows), np.bool_)
        for values in map(joined.column, names):
            alike &= values[rows] == values[row]
        return bool(alike.any())

    def _loss(self, missing: _Missing) -> PacketLoss:
        item = missing.item
        before, after = self._around(missing)
        return PacketLoss(
            connection=self._followed.way >> 1,
            forward=not self._followed.way & 1,
            what=name_packet(self._matching.joined, item.rows[item.last], item.begin, item.end),
            begin=item.begin,
            end=item.end,
            seen=self._sightings(item),
            missing_at=self._expected[missing.place].point,
            before=before,
            after=after,
            basis=self._expected[missing.place].basis,
            repeated=self._repeats(item, missing.place),
            resent=self._is_resent(item),
        )

    def _is_resent(self, item: Item) -> bool:
        """Tell whether the place that saw an item last shows it sent again."""
        joined, row = self._matching.joined, item.rows[item.last]
        times = joined.column("time")
        if item.begin < item.end:
            rows = [copy.row for copy in self._followed.segments[item.last].covering(item.begin)]
        elif joined.column("flags")[row] & (SYN | FIN):
            alike = self._followed.placed[item.last].rows
            for name in ("flags", "seq", "payload"):
                values = joined.column(name)
                alike = alike[values[alike] == values[row]]
            rows = alike.tolist()
        else:
            return False
        return any(int(times[other]) - int(times[row]) > AGAIN for other in rows)

    def _sightings(self, item: Item) -> tuple[SeenPacket, ...]:
        return tuple(self._matching.joined.sighting(row) for row in item.rows if row != ABSENT)

    def _around(self, missing: _Missing) -> tuple[SeenPacket, SeenPacket]:
        """Return what a place captured before and after the time at which something should have
        come.
        """
        joined = self._matching.joined
        rows, times = self._watch.around(self._expected[missing.place].point)
        if missing.place < len(self._followed.placed):
            mine = self._followed.placed[missing.place]
            order = np.argsort(mine.times, kind="stable")
            own = mine.rows[order], mine.times[order]
        else:
            own = rows[:0], times[:0]
        found = []
        for late in (False, True):
            for some, when in (own, (rows, times)):
                at = int(np.searchsorted(when, missing.time, side="right")) - (not late)
                if 0 <= at < len(some):
                    found.append(joined.sighting(int(some[at])))
                    break
        return found[0], found[1]

    def _unseen(self, place: int, why: str, missing: list[_Missing]) -> Unseen:
        way = self._followed.way
        last = [self._sightings(each.item)[-1] for each in missing]
        return Unseen(
            connection=way >> 1,
            forward=not way & 1,
            packets=len(missing),
            first=min(last, key=lambda seen: seen.time),
            last=max(last, key=lambda seen: seen.time),
            missing_at=self._expected[place].point,
            why=why,
        )


def _picky_devices(matching: Matching, way: int) -> set[int]:
    """Return the devices that show of a TCP connection only how it begins and ends, though the rest
    did pass them.

    So do captures with a filter for SYN, FIN and RST. That the rest passed is shown by the other
    direction, behind the device.
    """
    joined = matching.joined
    flags, protocol = joined.column("flags"), joined.column("protocol")
    shows: dict[int, bool] = {}
    passes: set[int] = set()
    for each in (way, way ^ 1):
        later = False
        for placed in reversed(matching.order(each)):
            middle = bool(
                (
                    (protocol[placed.rows] == TCP) & (flags[placed.rows] & (SYN | FIN | RST) == 0)
                ).any()
            )
            shows[placed.device] = shows.get(placed.device, False) or middle
            if later:
                passes.add(placed.device)
            later = later or middle
    return {device for device in passes if not shows[device]}


def _acknowledged(matching: Matching, followed: Followed) -> int | None:
    """Return the highest number that the other direction acknowledged, relative to the way's first;
    None where it did not.

    Resets do not count: a firewall between the points may have sent them.
    """
    joined, best = matching.joined, None
    flags = joined.column("flags")
    if joined.column("protocol")[followed.placed[0].rows[0]] != TCP:
        return None
    for each in matching.order(followed.way ^ 1):
        rows = each.rows[(flags[each.rows] & ACK != 0) & (flags[each.rows] & RST == 0)]
        if not len(rows):
            continue
        values = joined.column("ack")[rows]
        ahead = (int(values[0]) - followed.base) % (1 << 32)
        ahead -= (1 << 32) if ahead >= (1 << 32) - (1 << 20) else 0
        most = int(unwrapped(values).max()) + ahead
        best = most if best is None else max(best, most)
    return best


def _count_below(places: Sequence[int], limit: int) -> int:
    return sum(place < limit for place in places)
