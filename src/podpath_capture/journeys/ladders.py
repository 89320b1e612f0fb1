"""A connection laid out for a ladder: its devices as columns, its packets as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from podpath.capture.sightings import (
    ClockOffset,
    Journey,
    Ladder,
    LadderPoint,
    LadderStep,
    MatchedConnection,
    Passage,
)
from podpath_capture.journeys.journeys import follow_packets
from podpath_capture.matching.matching import Matching

_Key = tuple[str, str, int]
"""A file, a device in it, and which passage of the device: it may show a connection before NAT and
after it.
"""


def lay_out(matching: Matching, number: int) -> Ladder:
    """Lay out one connection."""
    connection = matching.connection(number)
    journeys = follow_packets(matching, number)
    forward = _keys(matching, connection.forward.passages)
    backward = _keys(matching, connection.backward.passages[::-1])[::-1]
    keys = _merge(forward, backward[::-1])
    for journey in journeys:
        for loss in journey.lost:
            point = matching.points[loss.missing_at]
            if not any(key[:2] == (point.file, point.device) for key in keys):
                keys.insert(len(keys) if loss.forward else 0, (point.file, point.device, 0))
    start = journeys[0].time if journeys else 0
    steps = tuple(
        _step(matching, journey, backward if not journey.forward else forward, keys, start)
        for journey in journeys
    )
    return Ladder(
        connection=connection,
        posts=tuple(_post(matching, connection, key) for key in keys),
        steps=steps,
    )


def _keys(matching: Matching, passages: Iterable[Passage]) -> list[_Key]:
    """Name the column of each passage, given in the order of the client's packets."""
    seen: Counter[tuple[str, str]] = Counter()
    keys = []
    for passage in passages:
        point = matching.points[passage.point]
        device = (point.file, point.device)
        keys.append((*device, seen[device]))
        seen[device] += 1
    return keys


def _merge(forward: Sequence[_Key], backward: Sequence[_Key]) -> list[_Key]:
    """Put columns that only the way back passes behind the one that stands before them there."""
    keys = list(forward)
    place = 0
    for key in backward:
        if key in keys:
            place = keys.index(key) + 1
        else:
            keys.insert(place, key)
            place += 1
    return keys


def _nearest(places: Sequence[int], to: int) -> int:
    return min(places, key=lambda at: abs(at - to))


def _step(
    matching: Matching, journey: Journey, mine: Sequence[_Key], keys: Sequence[_Key], start: int
) -> LadderStep:
    packets: list[tuple[int, ...]] = [()] * len(keys)
    for key, sightings in zip(mine, journey.seen, strict=True):
        packets[keys.index(key)] = tuple(sighting.number for sighting in sightings)
    lost = []
    for loss in journey.lost:
        seen = zip(mine, journey.seen, strict=True)
        last = [keys.index(key) for key, sightings in seen if loss.last_seen in sightings][-1]
        point = matching.points[loss.missing_at]
        own = [at for at, key in enumerate(keys) if key[:2] == (point.file, point.device)]
        there = [at for at in own if not packets[at]] or own
        lost.append((last, _nearest(there, last), loss.what))
    return LadderStep(
        forward=journey.forward,
        what=journey.what,
        time=journey.time - start,
        packets=tuple(packets),
        lost=tuple(lost),
    )


def _post(matching: Matching, connection: MatchedConnection, key: _Key) -> LadderPoint:
    for way in (connection.forward, connection.backward):
        passages = way.passages if way is connection.forward else way.passages[::-1]
        for name, passage in zip(_keys(matching, passages), passages, strict=True):
            if name == key:
                ends = passage.ends
                if way is connection.backward:
                    ends = ends._replace(
                        src=ends.dst, sport=ends.dport, dst=ends.src, dport=ends.sport
                    )
                return LadderPoint(
                    name=_name(key), ends=ends, tunnel=passage.tunnel, clock=_clock(matching, key)
                )
    return LadderPoint(name=_name(key), ends=None, tunnel=None, clock=_clock(matching, key))


def _name(key: _Key) -> str:
    return f"{key[0]} {key[1]}".strip()


def _clock(matching: Matching, key: _Key) -> ClockOffset:
    host = next(point.host for point in matching.points if point.file == key[0])
    return next(clock for clock in matching.clocks if clock.host == host)
