"""docs/quality/wrong-models.md, from what became of the wrong models."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from scripts.mutation_page import share, survivor
from scripts.planted import Argument, Mutant

INTRODUCTION = """# Wrong models: what the comparison with the kernel would notice

For users: decisions of the model were swapped one at a time, and the comparison with a real kernel
noticed {noticed} of {tried} swaps ({share}). Of the others, {argued} change nothing that a frame
could show, {held} are held by named tests, and {open} are open.

Written by `python scripts/wrong_models.py --page` (`make swaps`) on {day}; Linux {kernel}, seeds
{first} to {last}: {cases} fresh cases, which the kernel ran once. The datapath has {decisions}
decisions that a frame can show (comparisons, `and` and `or`, conditions, `True` and `False`, inside
of functions). Each swap is one wrong model, the modules in turns; it predicts up to {tries} of the
cases whose prediction executes that line, until one differs. A run that is stopped goes on where it
was.

| swaps tried | noticed by a case | not noticed | of them equivalent | held by a named test | open |
|---:|---:|---:|---:|---:|---:|
| {tried} | {noticed} | {others} | {argued} | {held} | {open} |

An open one says that the generator does not draw what would tell that model from the right one:
there the model could be wrong unseen.
"""
_HEAD = "| place | swap | change | cases that come by; why none notices |\n|---|---|---|---|\n"


class Tried(NamedTuple):
    """A wrong model that no case noticed."""

    model: Mutant
    cases: int
    """How many come by the decision."""
    why: Argument | None


@dataclass(slots=True)
class Figures:
    """What became of the wrong models."""

    cases: int
    first: int
    last: int
    decisions: int
    noticed: int = 0
    tries: int = 0
    """How many cases a model predicted at most."""
    others: list[Tried] = field(default_factory=list)

    def add(self, tried: Tried, *, noticed: bool) -> None:
        """Count one wrong model in."""
        if noticed:
            self.noticed += 1
        else:
            self.others.append(tried)

    @property
    def tried(self) -> int:
        """How many wrong models were tried."""
        return self.noticed + len(self.others)

    @property
    def argued(self) -> Sequence[Tried]:
        """Those that no frame could show."""
        return [each for each in self.others if each.why is not None and not each.why.held]

    @property
    def held(self) -> Sequence[Tried]:
        """Those that a named test notices."""
        return [each for each in self.others if each.why is not None and each.why.held]

    @property
    def open(self) -> Sequence[Tried]:
        """Those that nothing is known to notice, though something could."""
        return [each for each in self.others if each.why is None]

    @property
    def summary(self) -> str:
        """The figures in one line."""
        return (
            f"{self.cases} cases: of {self.tried} wrong models {self.noticed} noticed, "
            f"{len(self.argued)} equivalent, {len(self.held)} held by a named test, "
            f"{len(self.open)} open"
        )


def page(found: Figures) -> str:
    """Write the page."""
    head = INTRODUCTION.format(
        tries=found.tries, noticed=found.noticed, tried=found.tried,
        share=share(found.noticed, found.tried),
        day=f"{datetime.now(UTC):%Y-%m-%d}", kernel=platform.release(), first=found.first,
        last=found.last, cases=found.cases, decisions=found.decisions,
        others=len(found.others), argued=len(found.argued), held=len(found.held),
        open=len(found.open),
    )  # fmt: skip
    return head + "".join(_parts(found))


def _parts(found: Figures) -> Iterator[str]:
    titled = (("Open", found.open), ("Held by a named test", found.held),
              ("Equivalent", found.argued))  # fmt: skip
    for title, listed in titled:
        if listed:
            yield f"\n## {title}\n\n{_HEAD}"
            yield from (survivor(each.model, _spell(each)) for each in listed)


def _spell(tried: Tried) -> str:
    if tried.why is None:
        return str(tried.cases)
    held = f" (`{tried.why.held}`)" if tried.why.held else ""
    return f"{tried.cases}; {tried.why.why}{held}"
