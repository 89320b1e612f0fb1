"""docs/quality/mutation.md, from what survived a mutation run."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from scripts.planted import Argument, Mutant

INTRODUCTION = """# Mutation: what the tests would notice

For users: small errors were planted one at a time into the parts of podpath that decide
({packages}), and these packages' own tests noticed {caught} of {planted} ({share}). Of the others,
{argued} change nothing that anybody could see; each one is listed below, with the reason for these.

Written by `python scripts/mutate.py {asked} --seed {seed} --page` on {day}. A
run draws errors by a seed, in turns from every module: another comparison, a condition negated,
`and` for `or`, a number one higher or lower, `True` for `False`, a loop that does not run. For each
one, the tests that execute the changed line run until one fails. Golden tickets, incidents and
kernel tests would notice more, and are left out. Python {python}, operators of cosmic-ray.

| package | seed | errors planted | caught | survived | argued equivalent | unargued |
|---|---:|---:|---:|---:|---:|---:|
"""


@dataclass(slots=True)
class Run:
    """What one run found in one package."""

    package: str
    seed: int
    planted: int = 0
    survivors: list[tuple[Mutant, Argument | None]] = field(default_factory=list)

    @property
    def caught(self) -> int:
        """How many errors a test noticed."""
        return self.planted - len(self.survivors)

    @property
    def unargued(self) -> int:
        """How many errors survived without a reason."""
        return sum(why is None for _, why in self.survivors)

    @property
    def summary(self) -> str:
        """The figures in one line."""
        return (
            f"{self.package}, seed {self.seed}: {self.caught} of {self.planted} caught, "
            f"{len(self.survivors)} survived, {self.unargued} of them unargued"
        )


def page(runs: Sequence[Run]) -> str:
    """Write the page."""
    caught, planted = sum(run.caught for run in runs), sum(run.planted for run in runs)
    head = INTRODUCTION.format(
        packages=" and ".join(run.package for run in runs),
        asked=" ".join(f"{run.package}={run.planted}" for run in runs),
        caught=caught,
        planted=planted,
        share=share(caught, planted),
        argued=planted - caught - sum(run.unargued for run in runs),
        seed=runs[0].seed,
        day=f"{datetime.now(UTC):%Y-%m-%d}",
        python=platform.python_version(),
    )
    rows = "".join(f"{row(run)}\n" for run in runs)
    return head + rows + "".join(part for run in runs for part in parts(run))


def row(run: Run) -> str:
    """Return a package's row of figures."""
    argued = len(run.survivors) - run.unargued
    cells = [run.package, run.seed, run.planted, run.caught, len(run.survivors), argued]
    unargued = f"{run.unargued} ({share(run.unargued, run.planted)})"
    return f"| {' | '.join(map(str, cells))} | {unargued} |"


def parts(run: Run) -> Iterable[str]:
    """Yield the survivors of a package: those without a reason, then those with one."""
    open_ones = [(mutant, "") for mutant, why in run.survivors if why is None]
    argued = [(mutant, why.why) for mutant, why in run.survivors if why is not None]
    for title, listed in (("survived", open_ones), ("argued equivalent", argued)):
        if listed:
            yield f"\n## {run.package}: {title}\n\n"
            yield "| place | operator | change | why nobody could notice |\n|---|---|---|---|\n"
            yield from (survivor(mutant, why) for mutant, why in listed)


def survivor(mutant: Mutant, why: str) -> str:
    """Return a survivor's row."""
    change = mutant.change.replace("|", "&#124;").replace("`", "'")
    return f"| {mutant.place}:{mutant.line} | {mutant.operator} | `{change}` | {why} |\n"


def share(part: int, whole: int) -> str:
    """Spell a share as a percentage."""
    return f"{100 * part / whole:.1f} %" if whole else "0 %"
