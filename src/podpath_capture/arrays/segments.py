"""Scans over many short runs at once: what is largest so far, what came before, counted within each
run of equal numbers.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.integer[Any])
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
SPAN = 1 << 46
"""How far apart runs are held while they are scanned as one: 65,536 of them, within which values
differ by less (64 TB).
"""
LOWEST = -(SPAN >> 2)
"""Stands for no value yet."""


def order_by(runs: NDArray[np.integer[Any]]) -> Numbers:
    """Order rows by their run, and within a run as they stand: two passes of a radix sort, which
    stable sorts of 16 bits are.
    """
    if not len(runs) or int(runs.max()) >= 1 << 32:
        return np.argsort(runs, kind="stable")
    low = np.argsort(runs.astype(np.uint16), kind="stable")
    if int(runs.max()) < 1 << 16:
        return low
    return low[np.argsort((runs[low] >> 16).astype(np.uint16), kind="stable")]


def begins(runs: NDArray[np.integer[Any]]) -> Mask:
    """Tell which rows begin a run; equal numbers stand together."""
    first = np.ones(len(runs), np.bool_)
    first[1:] = runs[1:] != runs[:-1]
    return first


def distinct(values: NDArray[T]) -> NDArray[T]:
    """Return the different values, in order. `np.unique` gives the same, and loads masked arrays,
    which take 10 ms to load.
    """
    ordered = np.sort(values)
    return ordered[begins(ordered)]


def are_among(values: NDArray[T], known: NDArray[T]) -> Mask:
    """Tell which values are among others, which are in order. `np.isin` gives the same, by way of
    `np.unique`.
    """
    if not len(known):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    found: Mask = known[places] == values
    return found


def first_of_each(values: NDArray[T]) -> Numbers:
    """Return where each of the different values stands first, in the order of the values."""
    order = np.argsort(values, kind="stable")
    return order[begins(values[order])]


class Runs:
    """Rows that stand together by runs."""

    def __init__(self, numbers: NDArray[np.integer[Any]]) -> None:
        """Find where each run of equal numbers begins."""
        self._count = len(numbers)
        self.starts = np.flatnonzero(begins(numbers))
        self._lengths = np.diff(self.starts, append=self._count)

    def __len__(self) -> int:
        """Count the runs."""
        return len(self.starts)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat for each row the value of its run."""
        return np.repeat(values, self._lengths)

    def running_maximum(self, values: Numbers) -> Numbers:
        """Return for each row the largest value of its run up to it."""
        base = self.spread(np.arange(0, len(self.starts) * SPAN, SPAN))
        largest: Numbers = np.maximum.accumulate(values + base)
        largest -= base
        return largest

    def before(self, values: Numbers, nothing: int) -> Numbers:
        """Return for each row the value of the row before it in its run; `nothing` where it begins
        one.
        """
        shifted = np.empty_like(values)
        shifted[1:] = values[:-1]
        shifted[self.starts] = nothing
        return shifted

    def repeat(self, values: NDArray[Any]) -> Mask:
        """Tell which rows have the value of the row before them in their run."""
        same = np.zeros(self._count, np.bool_)
        np.equal(values[1:], values[:-1], out=same[1:])
        same[self.starts] = False
        return same

    def unwrapped(self, values: NDArray[np.uint32]) -> Numbers:
        """Return numbers that wrap at 32 bits relative to the first of their run, without the wrap
        (RFC 1982 distances).
        """
        step = np.zeros(self._count, np.int32)
        np.subtract(values[1:], values[:-1], out=step[1:].view(np.uint32))
        step[self.starts] = 0
        furthest = max(int(step.max(initial=0)), -int(step.min(initial=0))) * int(
            self._lengths.max(initial=0)
        )
        if furthest < 1 << 31:  # none can wrap
            near: Numbers = (
                (values - self.spread(values[self.starts])).view(np.int32).astype(np.int64)
            )
            return near
        total: Numbers = np.cumsum(step, dtype=np.int64)
        total -= self.spread(total[self.starts])
        return total


def unwrapped(values: NDArray[np.uint32]) -> Numbers:
    """Return numbers that wrap at 32 bits relative to the first of them, without the wrap."""
    total = np.zeros(len(values), np.int64)
    np.cumsum((values[1:] - values[:-1]).view(np.int32), out=total[1:])
    return total
