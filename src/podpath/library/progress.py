"""Progress, told to a callback of the caller: what is being done, and how much of it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, float], None]
"""Told what is being done and the share that is done: 0.0 as it begins, 1.0 once it has ended, also
by an error. Where things are counted the share is a `Counted`, with their numbers.
"""


def silent(doing: str, share: float) -> None:
    """Tell nobody."""
    _ = doing, share


@contextmanager
def stage(progress: Progress, doing: str) -> Iterator[Callable[[float], None]]:
    """Tell that a stage begins and that it has ended; what is yielded takes the share in between,
    where that is known.
    """
    progress(doing, 0.0)
    try:
        yield lambda share: progress(doing, share if 0.0 < share < 1.0 else _within(share))
    finally:
        progress(doing, 1.0)


def _within(share: float) -> float:
    """Return a share that is neither a beginning nor an end."""
    return min(max(share, 0.001), 0.999)
