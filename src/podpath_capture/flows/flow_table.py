"""Flows by what names them: a hash table of arrays, in which many packets are looked up at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Numbers = NDArray[np.int32]
Rows = NDArray[np.int64]
SMALLEST = 16
"""Bits of a slot's number, at least."""
_ODD = np.uint64(0x9E3779B97F4A7C15)
_WORD = np.uint64(32)


class FlowTable:
    """The flows that were met so far, numbered from 1. A name is some words, of which the first is
    never 0.
    """

    def __init__(self, words: int) -> None:
        """Know no flow."""
        self._bits = SMALLEST
        self._slots: Numbers = np.zeros(1 << self._bits, np.int32)
        """Flows by their digests; who finds another's name in its slot goes on to the next one."""
        self._names: list[Words] = [np.zeros(1 << SMALLEST, np.uint64) for _ in range(words)]
        """For each flow its name; what has the number 0 has none."""
        self._count = 1

    def number(self, names: list[Words]) -> tuple[Numbers, Rows]:
        """Return the flow of each packet, and the packets that are the first of new ones: these are
        numbered in their order.

        Packets of new flows take slots for themselves, the last ones first, so that each slot shows
        the first one that came.
        """
        count, start = len(names[0]), self._count
        self._make_room(start + count)
        for known, name in zip(self._names, names, strict=True):
            known[start : start + count] = name
        slot = self._slot(_digest(names))
        found = self._settle(names, slot, start)
        new = np.flatnonzero(found >= start)
        ahead = found.take(new) - np.int32(start)
        first = new.take(np.flatnonzero(ahead == new))
        numbers = np.arange(start, start + len(first), dtype=np.int32)
        rank = np.empty(count, np.int32)
        rank[first] = numbers
        found[new] = rank.take(ahead)
        self._slots[slot.take(first)] = numbers
        for known, name in zip(self._names, names, strict=True):
            known[start : start + len(first)] = name.take(first)
        self._count += len(first)
        return found, first

    def _settle(self, names: list[Words], slot: Rows, start: int) -> Numbers:
        """Return each packet's flow; where it is new, its first packet, counted from `start`.
        `slot` becomes theirs.
        """
        rows = np.arange(len(slot))
        found, here = np.zeros(0, np.int32), slot
        while len(rows):
            flow = self._slots.take(here)
            free = np.flatnonzero(flow == 0)
            if len(free):
                taken = here.take(free)
                self._slots[taken[::-1]] = rows.take(free)[::-1] + start
                flow[free] = self._slots.take(taken)
            if here is slot:
                found = flow
            else:
                found[rows], slot[rows] = flow, here
            others = np.flatnonzero(self._is_other(flow, names))
            rows, names = rows.take(others), [name.take(others) for name in names]
            here = here.take(others) + 1 & len(self._slots) - 1
        return found

    def _slot(self, digest: Words) -> Rows:
        return (digest >> np.uint64(64 - self._bits)).view(np.int64)

    def _is_other(self, flow: Numbers, names: list[Words]) -> NDArray[np.bool_]:
        """Tell where flows do not have the names."""
        numbers = flow.astype(np.int64)
        other: NDArray[np.bool_] = self._names[0].take(numbers) != names[0]
        for known, name in zip(self._names[1:], names[1:], strict=True):
            other |= known.take(numbers) != name
        return other

    def _make_room(self, count: int) -> None:
        """Take care that at least half of the slots are free, whatever comes."""
        while count > len(self._names[0]):
            self._names = [np.concatenate((known, np.zeros_like(known))) for known in self._names]
        if count * 2 <= len(self._slots):
            return
        self._bits = (count * 2 - 1).bit_length()
        self._slots = np.zeros(1 << self._bits, np.int32)
        known = [name[1 : self._count] for name in self._names]
        self._settle(known, self._slot(_digest(known)), 1)


def _digest(names: list[Words]) -> Words:
    """Spread names over 64 bits, of which the upper ones are the best."""
    mixed = names[0] * _ODD
    for name in names[1:]:
        mixed ^= mixed >> _WORD
        mixed += name
        mixed *= _ODD
    return mixed
