"""Who mends the same thing again and again is being fought: it is said, and mending slows down
instead of racing.

Time is an argument, in seconds of a clock that only goes forward.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple


class Fight(NamedTuple):
    """A thing that somebody keeps changing back."""

    subject: str
    rounds: int
    """How often it was mended in the last window."""
    held_until: float
    """Before that it is not mended again."""


@dataclass(slots=True)
class _History:
    times: deque[float] = field(default_factory=deque)
    pause: float = 0.0
    held_until: float = 0.0


@dataclass(slots=True, kw_only=True)
class Fights:
    """Remembers what was mended when. Mutable: it is the memory of one keeper."""

    rounds: int = 5
    """Mended so often within the window, a thing is fought over: what somebody does once, or
    thrice, is no fight.
    """
    window: float = 60.0
    first_pause: float = 1.0
    longest_pause: float = 60.0
    _histories: dict[str, _History] = field(default_factory=dict)

    def record(self, subject: str, now: float) -> None:
        """Remember that a thing was mended."""
        self._forget(now)
        history = self._histories.setdefault(subject, _History())
        history.times.append(now)
        if len(history.times) >= self.rounds:
            history.pause = min(history.pause * 2 or self.first_pause, self.longest_pause)
            history.held_until = now + history.pause

    def may_mend(self, subject: str, now: float) -> bool:
        """Tell whether a thing may be mended now."""
        history = self._histories.get(subject)
        return history is None or now >= history.held_until

    def list_fights(self, now: float) -> tuple[Fight, ...]:
        """Return what is being fought over."""
        self._forget(now)
        return tuple(
            Fight(subject, len(history.times), history.held_until)
            for subject, history in self._histories.items()
            if history.pause
        )

    def next_mend(self, now: float) -> float | None:
        """Return the seconds until something that is held back may be mended; None where nothing
        is.
        """
        held = [
            history.held_until - now
            for history in self._histories.values()
            if history.held_until > now
        ]
        return min(held, default=None)

    def _forget(self, now: float) -> None:
        """Drop what is over: a quiet window and pause end a fight, and devices that are gone leave
        nothing behind.
        """
        for subject, history in list(self._histories.items()):
            while history.times and now - history.times[0] > self.window + history.pause:
                history.times.popleft()
            if not history.times:
                del self._histories[subject]
