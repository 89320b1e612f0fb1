"""A port that the kernel draws at random: a number that stands for any of a range.

Whoever compares it with the ends of a range, as rules do, asks whether it lies there; where it may
or may not, the walk forks, and later questions know the answer. As a key, and where it is printed,
it is the number that stands for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Ranges = tuple[tuple[int, int], ...]
"""First and last numbers, apart and in order."""


class PortQuestions(NamedTuple):
    """How a branch is asked about a port, by the name of a statement that is true or false."""

    choose: Callable[[str, bool], bool]
    """Take one of the two for the statement, the given one first, as the kernel's choice."""
    answer: Callable[[str], object]
    """Return what it was taken for; None where nobody asked."""


class DrawnPort(int):
    """A port from `low` to `high`. Mutable in what it was asked, and of one branch."""

    low: int
    high: int
    _what: str
    _questions: PortQuestions
    _asked: list[tuple[int, int]]

    @classmethod
    def draw(
        cls, number: int, limits: tuple[int, int], what: str, questions: PortQuestions
    ) -> DrawnPort:
        """Make a port that `number` stands for; `what` names it."""
        port = cls(number)
        port.low, port.high = limits
        port._what, port._questions, port._asked = what, questions, []
        return port

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        """Leave the branch behind where it is copied."""
        return int, (int(self),)

    def __ge__(self, other: int) -> bool:
        """Tell whether it is from a number on."""
        return self.is_within(other, 0xFFFF)

    def __gt__(self, other: int) -> bool:
        """Tell whether it is above a number."""
        return self.is_within(other + 1, 0xFFFF)

    def __le__(self, other: int) -> bool:
        """Tell whether it is up to a number."""
        return self.is_within(0, other)

    def __lt__(self, other: int) -> bool:
        """Tell whether it is below a number."""
        return self.is_within(0, other - 1)

    def is_within(self, first: int, last: int) -> bool:
        """Tell whether it lies in a range; where both may be, the kernel chooses."""
        left = self.ranges()
        inside = _cut(left, first, last, inside=True)
        outside = _cut(left, first, last, inside=False)
        if not inside or not outside:
            return bool(inside)
        self._asked.append((first, last))
        return self._questions.choose(self._fact(first, last), _count(inside) > _count(outside))

    def settle(self) -> int:
        """Return one that it may be by the answers that the branch has: what stands for it, if it
        may.
        """
        left = self.ranges()
        fits = any(low <= int(self) <= high for low, high in left)
        return int(self) if fits or not left else left[0][0]

    def ranges(self) -> Ranges:
        """Return what it may be by the answers that the branch has."""
        left: Ranges = ((self.low, self.high),)
        for first, last in self._asked:
            answer = self._questions.answer(self._fact(first, last))
            if isinstance(answer, bool):
                left = _cut(left, first, last, inside=answer)
        return left

    def _fact(self, first: int, last: int) -> str:
        return f"{self._what} is from {first} to {last}"


def _cut(ranges: Ranges, first: int, last: int, *, inside: bool) -> Ranges:
    """Return what of the ranges is inside another, or outside."""
    wanted = ((first, last),) if inside else ((0, first - 1), (last + 1, 0xFFFF))
    parts = ((max(a, c), min(b, d)) for a, b in ranges for c, d in wanted)
    return tuple((low, high) for low, high in parts if low <= high)


def _count(ranges: Ranges) -> int:
    return sum(high - low + 1 for low, high in ranges)
