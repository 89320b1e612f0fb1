"""The walk over a file's records, one after the other in C-sized strides: many lanes at once, and exact.

Where a record begins is known only from the one before it, so a walk waits for memory at each. It is cut into lanes instead
that begin at plausible places and go on side by side. What they give counts only where each lane lands exactly on the
beginning of the next one; where one does not (a capture inside a packet, a damaged file), the careful walk goes over it again.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.capture.framing import PCAPNG, Framing, bounded, chained, in_window, words
from podpath.capture.index import Bytes, Damage, Offsets

LANES = 512
LANE_BYTES = 65_536
"""A lane shorter than this costs more to find than it saves."""
ROUND = 64
"""Steps of all lanes between two looks at which of them are done."""
WINDOWS = (2_048, 70_000, 300_000)
"""Bytes behind a cut in which a record has to begin: of common packets, of segmentation offload's, of the longest."""
SECTION = 0x0A0D0D0A


class Walked(NamedTuple):
    """The records of a stretch of a file."""

    places: Offsets
    next: int
    """Where the walk goes on; the size of the file at its end."""
    damages: tuple[Damage, ...] = ()


def walk(data: Bytes, framing: Framing, start: int, stop: int) -> Walked:
    """Give the places of all records from `start`, where one begins, up to the first at or behind `stop`."""
    stop = min(stop, len(data))
    lanes = min(LANES, (stop - start) // LANE_BYTES)
    if lanes < 2:
        return walk_carefully(data, framing, start, stop)
    starts = find_starts(data, framing, start, stop, lanes)
    return _stitch(data, framing, starts, stop)


def find_starts(data: Bytes, framing: Framing, start: int, stop: int, lanes: int) -> Offsets:
    """Give plausible beginnings of records near even cuts of a stretch; a cut without one is left out."""
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
            lane, where = np.unique(lane, return_index=True)
            found.append(places[where])
            missing[first + lane] = False
        cuts = cuts[missing]
    starts = np.unique(np.concatenate(found))
    return starts[starts < stop]


def _candidates(data: Bytes, framing: Framing, cuts: Offsets, window: int) -> Offsets:
    """Give the places behind each cut whose first word could begin a record, in order."""
    step = framing.step
    offsets = np.arange(0, window, step, dtype=np.int64)
    view = words(data, framing.order)
    found = []
    for cut in cuts.tolist():
        seen = view[cut : cut + window : step]
        hits = (seen == 6) if framing.kind == PCAPNG else in_window(seen, framing)
        found.append(cut + offsets[hits])
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _stitch(data: Bytes, framing: Framing, starts: Offsets, stop: int) -> Walked:
    """Walk all lanes, keep those that are exact, and walk the others again."""
    places, owners, landings = _walk_lanes(data, framing, starts, stop)
    exact = landings == np.append(starts[1:], landings[-1])
    exact[owners[_broken(data, framing, places, int(landings[-1]))]] = False
    if exact.all() and landings[-1] <= len(data):
        return Walked(places, int(landings[-1]))
    firsts = np.searchsorted(owners, np.arange(len(starts) + 1))
    meeting = {int(start): lane for lane, start in enumerate(starts.tolist())}
    parts: list[Offsets] = []
    damages: list[Damage] = []
    lane, after = 0, int(starts[0])
    while lane < len(starts):
        if exact[lane]:
            parts.append(places[firsts[lane] : firsts[lane + 1]])
            after = int(landings[lane])
            lane += 1
            continue
        again = walk_carefully(data, framing, after, stop, meeting)
        parts.append(again.places)
        damages.extend(again.damages)
        after = again.next
        lane = meeting.get(after, len(starts))
    return Walked(np.concatenate(parts), after, tuple(damages))


def _broken(data: Bytes, framing: Framing, places: Offsets, landing: int) -> NDArray[np.bool_]:
    """Tell which records of lanes a careful walk would not pass; the lengths of pcap show in how far apart they stand."""
    if framing.kind == PCAPNG:
        return ~bounded(data, framing, places)
    length = np.diff(places, append=landing) - framing.added
    return (length > framing.limit) | (length < 0) | (places > len(data) - length - framing.added)


def _walk_lanes(data: Bytes, framing: Framing, starts: Offsets, stop: int) -> tuple[Offsets, NDArray[np.uint16], Offsets]:
    """Give what each lane passes, lane by lane, whose lane it is, and where each lane lands behind its end."""
    view = words(data, framing.order)
    last = len(data) - framing.head
    least = framing.head if framing.kind == PCAPNG else 0
    live = np.arange(len(starts))
    ends = np.append(starts[1:], stop)
    current = starts.copy()
    landings = np.zeros(len(starts), np.int64)
    passed: list[Offsets] = []
    owners: list[NDArray[np.uint16]] = []
    while len(live):
        block = np.empty((len(live), ROUND), np.int64)
        for column in range(ROUND):
            block[:, column] = current
            hop = view[np.minimum(current, last) + framing.length_at].astype(np.int64)
            current += np.maximum(hop, least) + framing.added
        inside = block < ends[:, None]
        counts = inside.sum(axis=1)
        passed.append(block[inside])
        owners.append(np.repeat(live.astype(np.uint16), counts))
        rows = np.arange(len(live))
        landings[live] = np.where(counts < ROUND, block[rows, np.minimum(counts, ROUND - 1)], current)
        going = current < ends
        live, ends, current = live[going], ends[going], current[going]
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")  # a radix sort, since lanes are 16 bits
    return np.concatenate(passed)[order], owner[order], landings


def walk_carefully(data: Bytes, framing: Framing, start: int, stop: int, meeting: dict[int, int] | None = None) -> Walked:
    """Walk record by record up to `stop` or a place to meet, over damage to where records go on."""
    word = struct.Struct(f"{framing.order}I")
    buffer = data.data
    size, place = len(data), start
    places: list[int] = []
    damages: list[Damage] = []
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
            damages.append(Damage(place, why + skipped))
        place = onward
    return Walked(np.array(places, np.int64), place, tuple(damages))


def _look(buffer: memoryview, framing: Framing, word: struct.Struct, place: int, size: int) -> tuple[str, int]:
    """Say what is wrong with a record, and where the next one stands; itself where its bytes are in the other order."""
    if place + framing.head > size:
        return f"expected a record of at least {framing.head} bytes, saw the file end after {size - place}", size
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
        return f"expected a record of {onward - place} bytes, saw the file end after {size - place}", size
    if framing.kind == PCAPNG and word.unpack_from(buffer, onward - 4)[0] != length:
        return f"expected a block's length of {length} again at its end, saw another", size
    return "", onward


def _is_other_section(buffer: memoryview, word: struct.Struct, place: int) -> bool:
    return (word.unpack_from(buffer, place)[0], word.unpack_from(buffer, place + 8)[0]) == (SECTION, 0x4D3C2B1A)


def _resume(data: Bytes, framing: Framing, damaged: int) -> int:
    """Give the first place behind damage from which records follow each other; the file's size where there is none."""
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
