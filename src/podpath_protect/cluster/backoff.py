"""How long to wait before the next try: exponential, capped, with jitter, so that a thousand nodes
do not come back at once.

The draw is given, so a test knows each pause. Jitter is a factor between a half and one ("equal
jitter"): never zero, since a pause of nothing is a busy loop.
"""

from __future__ import annotations

from collections.abc import Callable

FIRST, LONGEST, FACTOR = 0.5, 30.0, 2.0


class Backoff:
    """The pauses between tries that fail."""

    def __init__(
        self, draw: Callable[[], float], *, first: float = FIRST, longest: float = LONGEST
    ) -> None:
        """Begin at `first` seconds; `draw` gives numbers from 0 up to 1."""
        self._draw, self._first, self._longest = draw, first, longest
        self.failures = 0
        """Tries that failed in a row."""

    def pause(self, at_least: float = 0.0) -> float:
        """Count a failure and give the seconds to wait, no fewer than the server asked for."""
        ceiling = self._first * FACTOR ** min(self.failures, 32)
        self.failures += 1
        jittered = min(self._longest, ceiling) * (0.5 + 0.5 * self._draw())
        return max(jittered, min(at_least, 10 * self._longest) * (1.0 + 0.1 * self._draw()))

    def reset(self) -> None:
        """Begin anew, since a try went well."""
        self.failures = 0
