"""IPv6 addresses as numbers: columns hold a number, and one table the address of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

QUICK = 1 << 16
"""Addresses that are found again the quick way; a capture with more is a scan's, and looks each up by itself."""
_ODD, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class Addresses:
    """Numbers IPv6 addresses, in the order in which they are met. Mutable while packets are decoded."""

    def __init__(self) -> None:
        """Begin with none."""
        self._numbers: dict[tuple[int, int], int] = {}
        self._digests = np.zeros(0, np.uint64)
        self._halves: tuple[NDArray[np.uint64], NDArray[np.uint64]] = (self._digests, self._digests)
        self._given = np.zeros(0, np.uint32)

    def number(self, high: NDArray[np.uint64], low: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Give each address its number, by its upper and lower half."""
        digests = (high ^ (high >> _HALF)) * _ODD + low
        numbers, known = self._look_up(digests, high, low)
        if not known.all():
            new = np.flatnonzero(~known)
            pairs = zip(high[new].tolist(), low[new].tolist(), strict=True)
            numbers[new] = [self._numbers.setdefault(pair, len(self._numbers)) for pair in pairs]
            if len(self._digests) < QUICK:
                self._learn(digests[new], (high[new], low[new]), numbers[new])
        return numbers

    def _look_up(
        self, digests: NDArray[np.uint64], high: NDArray[np.uint64], low: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Give the numbers of addresses that were met before, and which those are."""
        if not len(self._digests):
            return np.zeros(len(digests), np.uint32), np.zeros(len(digests), np.bool_)
        place = np.minimum(np.searchsorted(self._digests, digests), len(self._digests) - 1)
        return self._given[place], (self._halves[0][place] == high) & (self._halves[1][place] == low)

    def _learn(
        self, digests: NDArray[np.uint64], halves: tuple[NDArray[np.uint64], NDArray[np.uint64]], numbers: NDArray[np.uint32]
    ) -> None:
        """Keep addresses to be found again; of two with one digest only the first is, and the other stays in the table."""
        every = np.concatenate((self._digests, digests))
        self._digests, first = np.unique(every, return_index=True)
        old = self._halves
        self._halves = np.concatenate((old[0], halves[0]))[first], np.concatenate((old[1], halves[1]))[first]
        self._given = np.concatenate((self._given, numbers))[first]

    def values(self) -> tuple[int, ...]:
        """Give all addresses, in the order of their numbers."""
        return tuple(high << 64 | low for high, low in self._numbers)
