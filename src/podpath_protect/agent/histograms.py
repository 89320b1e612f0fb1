"""How long things took, counted in buckets as Prometheus reads them.

A histogram is of fixed bounds, so that its cost is fixed: what is observed becomes counts, and
nothing is kept of the single value.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from itertools import accumulate
from typing import Final

from podpath_protect.agent.keeper import Labels, Sample

SECONDS: Final = (0.005, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0)
"""From a look at a folder to a mending that waits for its proof."""


class Histogram:
    """Durations, by labels of a small set. Threads may share it."""

    def __init__(self, name: str, meaning: str, bounds: tuple[float, ...] = SECONDS) -> None:
        """Begin with nothing observed."""
        self._name, self._help, self._bounds = name, meaning, bounds
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}
        self._lock = threading.Lock()

    def observe(self, value: float, labels: Labels = ()) -> None:
        """Count one duration."""
        with self._lock:
            counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
            counts[bisect_left(self._bounds, value)] += 1
            self._sums[labels] = self._sums.get(labels, 0.0) + value

    def samples(self) -> tuple[Sample, ...]:
        """Return the buckets, each with what the smaller ones hold too, the sums and the counts."""
        with self._lock:
            held = {labels: tuple(counts) for labels, counts in self._counts.items()}
            sums = dict(self._sums)
        found: list[Sample] = []
        for labels, counts in held.items():
            limits = [*(f"{bound:g}" for bound in self._bounds), "+Inf"]
            for limit, count in zip(limits, accumulate(counts), strict=True):
                found.append(self._sample("bucket", count, (*labels, ("le", limit))))
            found.append(self._sample("sum", sums[labels], labels))
            found.append(self._sample("count", sum(counts), labels))
        return tuple(found)

    def _sample(self, part: str, value: float, labels: Labels) -> Sample:
        return Sample(self._name, value, labels, "histogram", self._help, f"_{part}")
