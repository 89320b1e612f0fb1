"""Whether a connection fails only under some answers to what the evidence does not tell.

Branches differ by what the kernel chooses (an endpoint, a path) and by facts that nobody stated.
The first are real alternatives: one that fails is a fault. Where some answer to the open questions
lets every remaining branch work, nothing but our ignorance speaks of a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.datapath.tracing.trace import Assumption, Branch

MOST_TRIED = 4096
"""Combinations of answers that are tried; past them, the answer is that nobody knows."""


def is_failure_open(branches: Sequence[Branch]) -> bool:
    """Tell whether some answer to what is not known leaves no branch that fails."""
    waiting = [tuple(branches)]
    for _ in range(MOST_TRIED):
        if not waiting:
            return False
        left = waiting.pop()
        failing = next((branch for branch in left if branch.works is False), None)
        if failing is None:
            return True
        waiting += _answer_otherwise(failing, left)
    return True


def _answer_otherwise(
    failing: Branch, branches: tuple[Branch, ...]
) -> Iterator[tuple[Branch, ...]]:
    """Yield, for each other answer to a question that a failing branch rests on, the branches that
    are left with it.
    """
    for made in _unknown(failing):
        others = [one for branch in branches for one in _unknown(branch) if one.fact == made.fact]
        for value in dict.fromkeys(one.value for one in others if one.value != made.value):
            yield tuple(branch for branch in branches if _allows(branch, made.fact, value))


def _allows(branch: Branch, fact: str, value: object) -> bool:
    """Tell whether a branch takes this value for granted, or does not ask."""
    return all(made.value == value for made in _unknown(branch) if made.fact == fact)


def _unknown(branch: Branch) -> Iterator[Assumption]:
    return (made for made in branch.assumptions if not made.random)
