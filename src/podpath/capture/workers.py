"""Several workers at one capture, as whoever calls provides them: this package starts nothing by
itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class LostError(Exception):
    """A worker ended before its work did: what was asked for has to be done without it."""


class AllGather(Protocol):
    """A place where all workers wait for each other."""

    def __call__(self, value: T, /) -> list[T]:
        """Say something to the others; give what each said, in the order of the workers."""


class Workers(Protocol):
    """Workers that run side by side and write memory that all of them see."""

    @property
    def size(self) -> int:
        """Count the workers; one is as good as none."""

    def share(self, size: int) -> memoryview:
        """Return so many bytes of zeros that every worker sees, of which only those that are
        touched take memory.

        `LostError` where there is no room for them.
        """

    def load(self, start: int, stop: int) -> None:
        """Say which bytes of the file a worker is about to read."""

    def run(self, work: Callable[[int, AllGather], T]) -> list[T]:
        """Let each worker do its work, which is told its number; give the results in order.
        `LostError` where one ended early.
        """
