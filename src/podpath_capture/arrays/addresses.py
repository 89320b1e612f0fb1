"""IPv6 addresses as numbers: columns hold a number, and one table the address of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Halves = NDArray[np.uint64]
SLOTS = 16
"""Bits of the place where an address is looked for first. Two may have one place: then the table
knows the one met last.
"""
NONE = 0xFFFF_FFFF
_ODD, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class AddressNumbers:
    """Numbers IPv6 addresses, in the order in which they are met. Mutable while packets are
    decoded.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._numbers: dict[tuple[int, int], int] = {}
        self._high, self._low = np.zeros(1 << SLOTS, np.uint64), np.zeros(1 << SLOTS, np.uint64)
        self._given = np.full(1 << SLOTS, NONE, np.uint32)
        self._latest = np.zeros(1 << SLOTS, np.int64)

    def number(self, high: Halves, low: Halves) -> NDArray[np.uint32]:
        """Assign each address a number by its upper and lower half."""
        slots = place(high, low)
        numbers = self._given[slots]
        known = (self._high[slots] == high) & (self._low[slots] == low) & (numbers != NONE)
        if known.all():
            return numbers
        new = np.flatnonzero(~known)
        high, low, slots = high[new], low[new], slots[new]
        self._latest[slots] = np.arange(len(new))
        one = np.flatnonzero(self._latest[slots] == np.arange(len(new)))
        self._high[slots[one]], self._low[slots[one]] = high[one], low[one]
        self._given[slots[one]] = self._look_up(high[one], low[one])
        found = self._given[slots]
        other = np.flatnonzero((self._high[slots] != high) | (self._low[slots] != low))
        found[other] = self._look_up(high[other], low[other])
        numbers[new] = found
        return numbers

    def _look_up(self, high: Halves, low: Halves) -> list[int]:
        """Return the numbers of addresses one by one."""
        return [
            self._numbers.setdefault(pair, len(self._numbers))
            for pair in zip(high.tolist(), low.tolist(), strict=True)
        ]

    def values(self) -> tuple[int, ...]:
        """Return all addresses, in the order of their numbers."""
        return tuple(high << 64 | low for high, low in self._numbers)


def place(high: Halves, low: Halves) -> NDArray[np.int64]:
    """Return the slot of each address, so that those of one network are spread."""
    mixed = ((high ^ (high >> _HALF)) * _ODD ^ low) * _ODD
    return (mixed >> np.uint64(64 - SLOTS)).astype(np.int64)
