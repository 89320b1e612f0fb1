"""The garbage collector while a case is read and walked: it looks seldom, and past what stands
already.

A case may hold 150,000 rules and lives long; what walks leave behind is values, hardly ever cycles.
Each look at all of it would cost more than it frees. The collector is the process's own, so every
call leaves it as it was found.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 100_000
"""New containers between two looks, where Python's own threshold is some hundreds."""


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Have the collector look seldom, and only at what is made meanwhile."""
    thresholds = gc.get_threshold()
    freezing = (
        gc.get_freeze_count() == 0
    )  # else it is frozen already, by a caller who may want it to stay so
    gc.set_threshold(max(SELDOM, thresholds[0]), *thresholds[1:])
    if freezing:
        gc.freeze()
    try:
        yield
    finally:
        if freezing:
            gc.unfreeze()
        gc.set_threshold(*thresholds)


@contextmanager
def collecting_nothing() -> Iterator[None]:
    """Have the collector not look while a node is read, and never at what was read: a look stops
    every thread, for as long as there are objects, and a node that is read has no cycles.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if before:
            gc.enable()
