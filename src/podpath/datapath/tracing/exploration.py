"""All branches of a walk, found by running it again with other answers at its forks.

A walk is written as straight code: where it needs a fact that is unknown, or the kernel would
choose at random, it asks `Choices` and goes on with the answer. `explore` runs it once with the
likeliest answers, then with each answer turned, then with pairs turned: fewest deviations from the
likely first (limited discrepancy search, Harvey and Ginsberg 1995). Nothing is copied or undone
between branches, since every run starts from the frozen node.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from podpath.datapath.tracing.trace import Assumption
from podpath.net.provenance import Fact, Option, Unknown

T = TypeVar("T")
R = TypeVar("R")


class Choices:
    """The answers of one run: a given prefix, then always the likeliest. Mutable, local to the run."""

    __slots__ = ("_answered", "_prefix", "_settled", "_supposed", "asked", "made", "widths")

    def __init__(
        self, prefix: Sequence[int] = (), settled: Mapping[str, object] | None = None
    ) -> None:
        """Start a run. `settled` gives facts a value before any fork, by the fact's name (a
        hypothesis under test).
        """
        self._prefix = prefix
        self._settled = settled or {}
        self._answered: dict[str, object] = {}
        self._supposed: dict[str, Assumption] = {}
        self.made: list[Assumption] = []
        """One assumption for each fork that was met, in order."""
        self.widths: list[int] = []
        """How many options each of those forks had."""
        self.asked = 0
        """How often the run asked: what was worked out without asking holds in every branch."""

    def likeliest(self) -> Choices:
        """Return choices that answer what was asked before as this run did, and all else by the
        likeliest option.

        What is asked there leaves no assumption in this run: it is for looking at what might have
        been.
        """
        return Choices((), {**self._settled, **self._answered})

    def knows(self, name: str) -> bool:
        """Tell whether asking by this name would not fork: it was answered before, or is settled."""
        return name in self._answered or name in self._settled

    def resolve(self, fact: Fact[T]) -> T:
        """Return the fact's value; an unknown one forks the walk, once in a run."""
        if isinstance(fact, Unknown):
            value: T = self.choose(fact.fact, fact.options, ask=fact.ask)
            return value
        return fact.value

    def choose(
        self, name: str, options: Sequence[Option[T]], *, ask: str = "", random: bool = False
    ) -> T:
        """Take one of the options, the same one whenever the run asks by the same name.

        `random` marks what the kernel chooses: the other options then count as no deviation.
        """
        self.asked += 1
        if name in self._answered:
            return self._answered[name]  # type: ignore[return-value]  # the name stands for one fact of one type
        if name in self._settled:
            self._answered[name] = self._settled[name]
            return self._settled[name]  # type: ignore[return-value]  # as above
        position = len(self.made)
        index = self._prefix[position] if position < len(self._prefix) else 0
        option = options[index]
        self.made.append(
            Assumption(name, option.value, option.meaning, ask, index, random, option.span)
        )
        self.widths.append(len(options))
        self._answered[name] = option.value
        return option.value

    def suppose(self, name: str, value: object, meaning: str, *, ask: str) -> Assumption:
        """Take for granted, once in a run, what the evidence leaves out, and go on with that alone.

        It may be otherwise: what a stage decides behind it holds the assumption (`Step.assumed`).
        """
        made = self._supposed.get(name)
        if made is None:
            made = self._supposed[name] = Assumption(name, value, meaning, ask, 0)
            self.made.append(made)
            self.widths.append(1)
        return made


class Exploration(NamedTuple, Generic[R]):
    """What `explore` found."""

    results: tuple[R, ...]
    """The run with the likeliest answers first, then by number of deviations."""
    truncated: bool
    """True where the limit left branches out."""
    pruned: bool = False
    """True where combinations of answers were left out that deviate from the likeliest in more
    facts than was asked for.
    """


def explore(
    run: Callable[[Choices], R],
    *,
    limit: int = 64,
    deviations: int = 2,
    settled: Mapping[str, object] | None = None,
) -> Exploration[R]:
    """Run a walk under every combination of answers, likeliest first, at most `limit` times.

    `deviations` bounds how many unknown facts at once have another value than the likeliest; the
    kernel's own choices are not counted. A fact whose name `settled` holds does not fork.
    """
    results: list[R] = []
    queue: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    serial = 1
    pruned = False
    while queue and len(results) < limit:
        count, _, prefix = heapq.heappop(queue)
        choices = Choices(prefix, settled)
        results.append(run(choices))
        for position in range(len(prefix), len(choices.made)):
            cost = count + (0 if choices.made[position].random else 1)
            if cost > deviations:
                pruned = True
                continue
            head = prefix + (0,) * (position - len(prefix))
            for index in range(1, choices.widths[position]):
                heapq.heappush(queue, (cost, serial, (*head, index)))
                serial += 1
    return Exploration(tuple(results), bool(queue), pruned)


def unknown(
    fact: str, ask: str, *options: tuple[T, str], why: str = "not in the evidence"
) -> Unknown[T]:
    """Make an unknown fact from (value, meaning) pairs, the likeliest first."""
    return Unknown(fact, ask, tuple(Option(value, meaning) for value, meaning in options), why)
