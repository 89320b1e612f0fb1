"""All branches of a walk, found by running it again with other answers at its forks.

Theory of operation. A walk is straight code: where it needs a fact that is unknown, or the kernel
would choose at random, it asks `Choices` by the fact's name and goes on with the answer. A run is
given a prefix of answers (the number of an option at each fork, in the order in which forks are
met) and takes the first option, the likeliest, at every fork behind it. So a prefix names a run,
and `explore` is a search over prefixes:

```text
    run ()             meets forks A(2 options) B(3)        -> makes (A=0, B=0)
      |-- run (1)      A turned; meets A B                  -> makes (A=1, B=0)
      |     |-- run (1, 1)   run (1, 2)                        both turned: 2 deviations
      |-- run (0, 1)   run (0, 2)                              only B turned
```

Each run puts one prefix into the queue for every other option at every fork behind its own prefix.
The queue is ordered by how many facts deviate from the likeliest, then by when they were put in:
limited discrepancy search (Harvey and Ginsberg 1995). What the kernel draws at random costs
nothing, since each outcome happens; those forks are all followed.

Invariants:

- The run with the empty prefix comes first: its results are the likeliest.
- No prefix is run twice: a run turns only forks behind its prefix, and a turned one ends a prefix.
- A name is asked once in a run; asked again, it has the same answer. Names that `settled` holds do
  not fork.
- Nothing is copied or undone between runs: each starts from the frozen node and a new `Walk`.
- What a run works out while `asked` stays the same depends on no fork, and may be kept for all
  runs.
- `truncated` says that the limit left prefixes in the queue, `pruned` that combinations with more
  deviations than asked for were left out: neither is ever silent.
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
    """The answers of one run: a given prefix, then always the likeliest. Mutable, local to the
    run.
    """

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

    @property
    def planned(self) -> tuple[int, ...]:
        """The answers that were settled before the run, by their index."""
        return tuple(self._prefix)

    def repeat(self, made: Sequence[Assumption], widths: Sequence[int]) -> None:
        """Stand as after a run that met these forks, without running it."""
        self.made.extend(made)
        self.widths.extend(widths)

    def likeliest(self) -> Choices:
        """Return choices that answer what was asked before as this run did, and all else by the
        likeliest option.

        What is asked there leaves no assumption in this run: it is for looking at what might have
        been.
        """
        return Choices((), {**self._settled, **self._answered})

    def knows(self, name: str) -> bool:
        """Tell whether asking by this name would not fork: it was answered before, or is
        settled.
        """
        return name in self._answered or name in self._settled

    def answer(self, name: str) -> object:
        """Return what the run took a fact for; None where it did not ask."""
        return self._answered.get(name, self._settled.get(name))

    def resolve(self, fact: Fact[T]) -> T:
        """Return the fact's value; an unknown one forks the walk, once in a run."""
        if isinstance(fact, Unknown):
            value: T = self.choose(fact.fact, fact.options, ask=fact.ask)
            return value
        return fact.value

    def choose(
        self,
        name: str,
        options: Sequence[Option[T]],
        *,
        ask: str = "",
        random: bool = False,
        unshown_rules: bool = False,
    ) -> T:
        """Take one of the options, the same one whenever the run asks by the same name.

        `random` marks what the kernel chooses: the other options then count as no deviation.
        `unshown_rules` marks what rules do that the evidence does not show.
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
            Assumption(
                name,
                option.value,
                option.meaning,
                ask,
                index,
                random,
                option.span,
                unshown_rules,
            )
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
            if choices.widths[position] < 2:
                continue  # taken for granted: no other answer is left out
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
