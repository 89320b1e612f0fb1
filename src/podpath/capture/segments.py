"""Scans over many short runs at once: what is largest so far, what came before, counted within each run of equal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
SPAN = 1 << 36
"""How far apart runs are held while they are scanned as one: values within a run differ by less (64 GB of a connection)."""
LOWEST = -(SPAN >> 2)
"""Stands for no value yet."""


def order_by(runs: Numbers) -> Numbers:
    """Order rows by their run, and within a run as they stand: two passes of a radix sort, which stable sorts of 16 bits are."""
    if not len(runs) or int(runs.max()) >= 1 << 32:
        return np.argsort(runs, kind="stable")
    low = np.argsort((runs & 0xFFFF).astype(np.uint16), kind="stable")
    if int(runs.max()) < 1 << 16:
        return low
    return low[np.argsort((runs[low] >> 16).astype(np.uint16), kind="stable")]


def begins(runs: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Tell which rows begin a run; equal numbers stand together."""
    first = np.ones(len(runs), np.bool_)
    first[1:] = runs[1:] != runs[:-1]
    return first


def running_maximum(values: Numbers, first: NDArray[np.bool_]) -> Numbers:
    """Give for each row the largest value of its run up to it."""
    base = np.cumsum(first) * SPAN
    largest: Numbers = np.maximum.accumulate(values + base) - base
    return largest


def before(values: Numbers, first: NDArray[np.bool_], nothing: int) -> Numbers:
    """Give for each row the value of the row before it in its run; `nothing` where it begins one."""
    shifted = np.empty_like(values)
    shifted[1:] = values[:-1]
    shifted[first] = nothing
    return shifted


def unwrapped(values: NDArray[np.uint32], first: NDArray[np.bool_]) -> Numbers:
    """Give numbers that wrap at 32 bits relative to the first of their run, without the wrap (RFC 1982 distances)."""
    distance = np.zeros(len(values), np.int64)
    distance[1:] = (values[1:] - values[:-1]).astype(np.int32)
    distance[first] = 0
    total = np.cumsum(distance)
    starts = np.flatnonzero(first)
    return total - np.repeat(total[starts], np.diff(starts, append=len(values)))
