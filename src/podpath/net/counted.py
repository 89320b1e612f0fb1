"""A share of some work that is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Self, TypeVar

T = TypeVar("T")


class Counted(float):
    """The share that so many of so many are: whoever takes shares takes it, and whoever shows them
    can show both numbers.
    """

    __slots__ = ("done", "total")
    done: int
    total: int

    def __new__(cls, done: int, total: int) -> Self:
        """Count `done` of `total`. Its share is never that of a beginning, 0.0, nor of an end,
        1.0.
        """
        self = super().__new__(cls, min(max(done / max(total, 1), 0.001), 0.999))
        self.done, self.total = done, total
        return self

    @property
    def is_done(self) -> bool:
        """Tell whether nothing is left."""
        return self.done >= self.total


def count(things: Sequence[T], tell: Callable[[float], None]) -> Iterator[T]:
    """Yield things, and tell before each how many are done, and after the last that all are."""
    for number, thing in enumerate(things):
        tell(Counted(number, len(things)))
        yield thing
    tell(Counted(len(things), len(things)))
