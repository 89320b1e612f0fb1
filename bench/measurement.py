"""What a benchmark gives: a figure, what it was measured against in the same run, and the bound
that it has to keep.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Measurement(NamedTuple):
    """One measured figure."""

    name: str
    value: float
    unit: str
    bound: float | None = None
    """What the value may be at most (at least, where `more_is_better`); None where nothing is
    promised.
    """
    more_is_better: bool = False
    against: str = ""
    """What it is compared with, measured side by side: `iptables-nft-restore --test, same file`."""
    other: float | None = None
    """The compared program's figure, in the same unit."""

    @property
    def ratio(self) -> float | None:
        """The value as a multiple of the compared figure."""
        return self.value / self.other if self.other else None

    @property
    def kept(self) -> bool:
        """Tell whether the bound is kept."""
        if self.bound is None:
            return True
        return self.value >= self.bound if self.more_is_better else self.value <= self.bound


def emit(measurements: Iterable[Measurement]) -> None:
    """Print what a benchmark program measured: a table, or with `--json` one line each for
    `bench/run.py`.

    Where a bound is not kept, the program that prints a table ends with 1.
    """
    if "--json" in sys.argv:
        for measurement in measurements:
            print(json.dumps(measurement._asdict()), flush=True)
    else:
        rows = tuple(measurements)
        print(render_table(rows))
        if not all(row.kept for row in rows):
            sys.exit(1)


def render_table(measurements: Sequence[Measurement]) -> str:
    """Return a Markdown table."""
    lines = [
        "| measured | value | bound | compared with | its value | ratio |",
        "|---|---:|---:|---|---:|---:|",
    ]
    for row in measurements:
        bound = (
            ""
            if row.bound is None
            else f"{'≥' if row.more_is_better else '≤'} {spell(row.bound, row.unit)}"
        )
        other = "" if row.other is None else spell(row.other, row.unit)
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        value = spell(row.value, row.unit) + ("" if row.kept else " **over**")
        lines.append(f"| {row.name} | {value} | {bound} | {row.against} | {other} | {ratio} |")
    return "\n".join(lines)


def spell(value: float, unit: str) -> str:
    """Spell a figure with as many digits as it means."""
    return (
        f"{value:.0f} {unit}"
        if value >= 100
        else f"{value:.2f} {unit}"
        if value < 10
        else f"{value:.1f} {unit}"
    )
