"""The walk over a file's records, one after the other in C-sized strides: many lanes at once, and
exact.

Theory of operation
-------------------

A capture is a chain: where a record begins is known only from the length of the one before it. Who
follows it step by step waits for memory at each step, and a loop in Python waits for Python.
Arrays do many steps at once, but only steps that do not depend on each other. So the stretch is cut
into *lanes*, some hundred chains that are walked side by side, one step of all of them at a time:

    start    cut 1        cut 2        cut 3            stop
      |--->----->-->|--->->------>|->-->--->----->|--->-->---|
       lane 0        lane 1        lane 2          lane 3

1. *Guess.* Near each cut, `find_starts` looks for a place at which a record plausibly begins: a
   head whose length leads to another plausible head, and that to a next one (`framing.chained`). It
   looks in windows of growing size, since a long packet may hide the next record.
2. *Walk.* `_walk_lanes` takes `ROUND` steps of all lanes, then drops the lanes that have passed
   their ends. A step reads no more than the words of the heads.
3. *Prove.* A guess may be wrong: a packet may carry a capture. But whoever walks from a true
   beginning passes only true beginnings. Lane 0 begins at one, so if it lands exactly on the
   beginning of lane 1, that is one too, and so on. `_stitch` checks these landings, and no guess
   counts that was not landed on.
4. *Mend.* From a lane that lands elsewhere, or meets a record that cannot be, `walk_carefully` goes
   on record by record, reports damage and skips it, until it meets the beginning of a later lane.

So lanes change how fast the places are found, and never which. `reading.together` does the same
with processes in place of lanes.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath_capture.arrays.segments import distinct, first_of_each
from podpath_capture.files.framing import PCAP, PCAPNG, Framing, bounded, chained, in_window, words
from podpath_capture.files.index import Bytes, CaptureDamage, Offsets

LANES = 512
LANE_BYTES = 65_536
"""A lane shorter than this costs more to find than it saves."""
ROUND = 64
"""Steps of all lanes between two looks at which of them are done."""
WINDOWS = (2_048, 70_000, 300_000)
"""Bytes behind a cut in which a record has to begin: of common packets, of segmentation offload's,
of the longest.
"""
SECTION = 0x0A0D0D0A


class WalkedRecords(NamedTuple):
    """The records of a stretch of a file."""

    places: Offsets
    next: int
    """Where the walk goes on; the size of the file at its end."""
    damages: tuple[CaptureDamage, ...] = ()
    heads: NDArray[np.uint32] | None = None
    """The words of each record's head, where the walk kept what it saw."""


def walk(data: Bytes, framing: Framing, start: int, stop: int) -> WalkedRecords:
    """Return the places of all records from `start`, where one begins, up to the first at or behind
    `stop`.
    """
    stop = min(stop, len(data))
    lanes = min(LANES, (stop - start) // LANE_BYTES)
    if lanes < 2:
        return walk_carefully(data, framing, start, stop)
    starts = find_starts(data, framing, start, stop, lanes)
    return _stitch(data, framing, starts, stop)


def find_starts(data: Bytes, framing: Framing, start: int, stop: int, lanes: int) -> Offsets:
    """Return plausible beginnings of records near even cuts of a stretch; a cut without one is left
    out.
    """
    cuts = start + (stop - start) // lanes * np.arange(1, lanes, dtype=np.int64)
    cuts += -(cuts - start) % framing.step
    found = [np.array([start], np.int64)]
    for window in WINDOWS:
        cuts = cuts[cuts + window + framing.head < len(data)]
        missing = np.ones(len(cuts), np.bool_)
        at_once = max((1 << 22) // window, 1)
        for first in range(0, len(cuts), at_once):
            some = cuts[first : first + at_once]
            places = chained(data, framing, _candidates(data, framing, some, window))
            lane = np.searchsorted(some, places, side="right") - 1
            where = first_of_each(lane)
            lane = lane[where]
            found.append(places[where])
            missing[first + lane] = False
        cuts = cuts[missing]
    starts = distinct(np.concatenate(found))
    return starts[starts < stop]


def _candidates(data: Bytes, framing: Framing, cuts: Offsets, window: int) -> Offsets:
    """Return the places behind each cut whose first word could begin a record, in order."""
    step = framing.step
    offsets = np.arange(0, window, step, dtype=np.int64)
    view = words(data, framing.order)
    found = []
    for cut in cuts.tolist():
        seen = view[cut : cut + window : step]
        hits = (seen == 6) if framing.kind == PCAPNG else in_window(seen, framing)
        found.append(cut + offsets[hits])
    if found:
        return np.concatenate(found)
    return np.zeros(0, np.int64)


def _stitch(data: Bytes, framing: Framing, starts: Offsets, stop: int) -> WalkedRecords:
    """Walk all lanes, keep those that are exact, and walk the others again."""
    lanes = _walk_lanes(data, framing, starts, stop)
    landings = lanes.landings
    places, heads = lanes.join(framing)
    exact = landings == np.append(starts[1:], landings[-1])
    meets = bool(exact.all()) and landings[-1] <= len(data)
    if meets and framing.kind == PCAP and heads[:, framing.length_at // 4].max() <= framing.limit:
        return WalkedRecords(
            places, int(landings[-1]), (), heads
        )  # no length leads back or out, so each record is where one ends
    broken = _broken(data, framing, places, int(landings[-1]))
    if meets and not broken.any():
        return WalkedRecords(places, int(landings[-1]), (), heads)
    owners = np.repeat(np.arange(len(starts)), lanes.counts)
    exact[owners[broken]] = False
    kept = _KeptLanes(starts, landings, places, exact, owners)
    return kept.join(data, framing, stop)


class _KeptLanes(NamedTuple):
    """Lanes of which some are exact. Local to `_stitch`."""

    starts: Offsets
    landings: Offsets
    places: Offsets
    """Where the records of all lanes begin."""
    exact: NDArray[np.bool_]
    owners: Offsets
    """The lane of each record."""

    def join(self, data: Bytes, framing: Framing, stop: int) -> WalkedRecords:
        """Keep the exact lanes, and walk with care what lies between them."""
        firsts = np.searchsorted(self.owners, np.arange(len(self.starts) + 1))
        meeting = {int(start): lane for lane, start in enumerate(self.starts.tolist())}
        parts: list[Offsets] = []
        damages: list[CaptureDamage] = []
        lane, after = 0, int(self.starts[0])
        while lane < len(self.starts):
            if self.exact[lane]:
                parts.append(self.places[firsts[lane] : firsts[lane + 1]])
                after = int(self.landings[lane])
                lane += 1
                continue
            again = walk_carefully(data, framing, after, stop, meeting)
            parts.append(again.places)
            damages.extend(again.damages)
            after = again.next
            lane = meeting.get(after, len(self.starts))
        return WalkedRecords(np.concatenate(parts), after, tuple(damages))


def _broken(data: Bytes, framing: Framing, places: Offsets, landing: int) -> NDArray[np.bool_]:
    """Tell which records of lanes a careful walk would not pass; the lengths of pcap show in how
    far apart they stand.
    """
    if framing.kind == PCAPNG:
        return ~bounded(data, framing, places)
    length = np.diff(places, append=landing) - framing.added
    return (length > framing.limit) | (length < 0) | (places > len(data) - length - framing.added)


class _Lanes(NamedTuple):
    """What lanes passed, some steps of all at a time. Local to `_stitch`."""

    rounds: list[_LaneSteps]
    starts: Offsets
    counts: Offsets
    """How many records each lane passed."""
    landings: Offsets
    """Where each lane landed behind its end."""

    def join(self, framing: Framing) -> tuple[Offsets, NDArray[np.uint32]]:
        """Return the places of all records with their heads, lane by lane."""
        total = int(self.counts.sum())
        joined = np.empty(total, np.dtype(("V", framing.head // 4 * 4)))
        firsts = np.cumsum(self.counts) - self.counts
        targets, steps = firsts.copy(), np.arange(ROUND)
        for each in self.rounds:
            rows = targets[each.live][:, None] + steps
            targets[each.live] += each.counts
            if each.counts.min() == ROUND:
                joined[rows] = each.heads
            else:
                inside = steps < each.counts[:, None]
                joined[rows[inside]] = each.heads[inside]
        heads = joined.view(np.dtype(f"{framing.order}u4")).reshape(total, -1)
        hops = _hops(framing, heads[:, framing.length_at // 4].astype(np.int64))
        places = np.cumsum(hops) - hops
        places += np.repeat(self.starts - places[firsts], self.counts)
        return places, heads


class _LaneSteps(NamedTuple):
    """Some steps of the lanes that had not reached their ends: a row for each lane. Local to
    `_Lanes`.
    """

    live: Offsets
    counts: Offsets
    """How many of the records are each lane's own: the others stand behind its end."""
    heads: NDArray[np.void]


def _hops(framing: Framing, lengths: NDArray[Any]) -> NDArray[Any]:
    """Say how far it is from records of some lengths to the next ones."""
    return (
        np.maximum(lengths, framing.head) if framing.kind == PCAPNG else lengths
    ) + framing.added


def _walk_lanes(data: Bytes, framing: Framing, starts: Offsets, stop: int) -> _Lanes:
    """Let all lanes walk side by side, each until it is past its end."""
    size = framing.head // 4 * 4
    view: NDArray[np.void] = np.ndarray(
        (len(data) - size + 1,), np.dtype(("V", size)), data.data, 0, (1,)
    )
    word, column, last = np.dtype(f"{framing.order}u4"), framing.length_at // 4, len(view) - 1
    live, ends, current = np.arange(len(starts)), np.append(starts[1:], stop), starts.copy()
    lanes = _Lanes([], starts, np.zeros(len(starts), np.int64), np.zeros(len(starts), np.int64))
    while len(live):
        places = np.empty((ROUND, len(live)), np.int64)
        heads = np.empty((ROUND, len(live)), view.dtype)
        lengths = heads.view(word).reshape(ROUND, len(live), -1)[:, :, column]
        for step in range(ROUND):
            places[step] = current
            heads[step] = view[np.minimum(current, last)]
            current += _hops(framing, lengths[step].astype(np.int64))
        counts = (places < ends).sum(axis=0)
        lanes.rounds.append(_LaneSteps(live, counts, heads.T.copy()))
        lanes.counts[live] += counts
        landed = places[np.minimum(counts, ROUND - 1), np.arange(len(live))]
        lanes.landings[live] = np.where(counts < ROUND, landed, current)
        going = current < ends
        live, ends, current = live[going], ends[going], current[going]
    return lanes


def walk_carefully(
    data: Bytes, framing: Framing, start: int, stop: int, meeting: dict[int, int] | None = None
) -> WalkedRecords:
    """Walk record by record up to `stop` or a place to meet, over damage to where records go on."""
    word = struct.Struct(f"{framing.order}I")
    buffer = data.data
    size, place = len(data), start
    places: list[int] = []
    damages: list[CaptureDamage] = []
    while place < stop:
        if meeting is not None and place != start and place in meeting:
            break
        why, onward = _look(buffer, framing, word, place, size)
        if not why:
            places.append(place)
        elif onward == place:
            break  # a section in the other byte order: its own walk reads on
        else:
            onward = _resume(data, framing, place)
            skipped = f": {onward - place} bytes are left out" if onward < size else ""
            damages.append(CaptureDamage(place, why + skipped))
        place = onward
    return WalkedRecords(np.array(places, np.int64), place, tuple(damages))


def _look(
    buffer: memoryview, framing: Framing, word: struct.Struct, place: int, size: int
) -> tuple[str, int]:
    """Say what is wrong with a record, and where the next one stands; itself where its bytes are in
    the other order.
    """
    if place + framing.head > size:
        wanted, rest = f"a record of at least {framing.head} bytes", size - place
        return f"expected {wanted}, saw the file end after {rest}", size
    length = int(word.unpack_from(buffer, place + framing.length_at)[0])
    onward = place + length + framing.added
    if framing.kind == PCAPNG:
        if _is_other_section(buffer, word, place):
            return "a section in the other byte order", place
        if length < 12 or length % 4:
            return f"expected a block's length, saw {length}", size
    if length > framing.limit:
        return f"expected a packet of at most {framing.limit} bytes, saw a length of {length}", size
    if onward > size:
        return (
            f"expected a record of {onward - place} bytes, saw the file end after {size - place}",
            size,
        )
    if framing.kind == PCAPNG and word.unpack_from(buffer, onward - 4)[0] != length:
        return f"expected a block's length of {length} again at its end, saw another", size
    return "", onward


def _is_other_section(buffer: memoryview, word: struct.Struct, place: int) -> bool:
    return (word.unpack_from(buffer, place)[0], word.unpack_from(buffer, place + 8)[0]) == (
        SECTION,
        0x4D3C2B1A,
    )


def _resume(data: Bytes, framing: Framing, damaged: int) -> int:
    """Return the first place behind damage from which records follow each other; the file's size
    where there is none.
    """
    framing = framing._replace(step=1)  # what was lost need not be a whole number of words
    window = 1 << 16
    place = damaged + 1
    while place + framing.head < len(data):
        end = min(place + window, len(data) - 3)
        found = chained(data, framing, _candidates(data, framing, np.array([place]), end - place))
        if len(found):
            return int(found[0])
        place = end
        window = min(window * 4, 1 << 24)
    return len(data)
