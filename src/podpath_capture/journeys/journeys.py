"""Every packet of a connection across the points: where it was seen, as which packets, and whether
it was lost on the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from podpath.capture.sightings import Journey, PacketLoss
from podpath_capture.journeys.followed import Followed, follow_way
from podpath_capture.journeys.losses import find_losses
from podpath_capture.journeys.packet_words import name_packet
from podpath_capture.matching.copies import ABSENT, Item
from podpath_capture.matching.matching import Matching

APART = 50_000_000
"""Nanoseconds within which segments with bytes in common are the same copy of them."""


def follow_packets(matching: Matching, number: int) -> tuple[Journey, ...]:
    """Return the packets of a connection, in the order of time; segments that become others on the
    way are one journey.
    """
    losses = [loss for loss in find_losses(matching).lost if loss.connection == number]
    journeys: list[Journey] = []
    for way in (2 * number, 2 * number + 1):
        if matching.order(way):
            lost: dict[tuple[str, int], list[PacketLoss]] = defaultdict(list)
            for loss in losses:
                if loss.forward is not bool(way & 1):
                    lost[loss.last_seen.file, loss.last_seen.number].append(loss)
            followed = follow_way(matching, way, every=True)
            journeys += (_travel(matching, followed, items, lost) for items in _group(followed))
    return tuple(sorted(journeys, key=lambda journey: journey.time))


def _travel(
    matching: Matching,
    followed: Followed,
    items: Sequence[tuple[Item, list[list[int]]]],
    lost: dict[tuple[str, int], list[PacketLoss]],
) -> Journey:
    joined = matching.joined
    places = [_rows_at(items, at) for at in range(len(followed.placed))]
    seen = tuple(tuple(map(joined.sighting, rows)) for rows in places)
    first = next(rows[0] for rows in places if rows)
    clock = int(matching.measured.of_point[joined.point[first]])
    offset = matching.measured.offsets[clock].nanoseconds or 0
    shown = chain.from_iterable(seen)
    mine = [loss for each in shown for loss in lost.get((each.file, each.number), ())]
    begin, end = min(item.begin for item, _ in items), max(item.end for item, _ in items)
    return Journey(
        connection=followed.way >> 1,
        forward=not followed.way & 1,
        what=name_packet(joined, first, begin, end),
        time=int(joined.column("time")[first]) - offset,
        seen=seen,
        lost=tuple(sorted(mine, key=lambda loss: loss.begin)),
    )


def _group(followed: Followed) -> Iterator[list[tuple[Item, list[list[int]]]]]:
    """Put together items that have a packet in common, each with its packets at every passage."""
    groups: dict[int, list[tuple[Item, list[list[int]]]]] = {}
    of_row: dict[int, int] = {}
    for number, item in enumerate(sorted(followed.items, key=lambda item: item.begin)):
        rows = [_rows(followed, item, place) for place in range(len(followed.placed))]
        every = [row for some in rows for row in some]
        known = sorted({of_row[row] for row in every if row in of_row})
        target = known[0] if known else number
        for other in known[1:]:
            for _, others in groups[other]:
                of_row.update((row, target) for some in others for row in some)
            groups[target] += groups.pop(other)
        groups.setdefault(target, []).append((item, rows))
        of_row.update(dict.fromkeys(every, target))
    yield from groups.values()


def _rows(followed: Followed, item: Item, place: int) -> list[int]:
    """Return all packets of a passage that have bytes of an item: of the copy that the item names
    there.
    """
    row = item.rows[place]
    if row == ABSENT:
        return []
    if item.begin == item.end:
        return [row]
    part = followed.segments[place]
    mine = next(copy for copy in part.covering(item.begin) if copy.row == row)
    same = []
    for other, begin, _ in part.between(item.begin, item.end):
        copy = next(copy for copy in part.covering(begin) if copy.row == other)
        if copy.stamp == mine.stamp and abs(copy.time - mine.time) < APART:
            same.append(other)
    return same


def _rows_at(items: Sequence[tuple[Item, list[list[int]]]], place: int) -> list[int]:
    """Return the packets of some items at one passage, in the order of the file."""
    return sorted({row for _, rows in items for row in rows[place]})
