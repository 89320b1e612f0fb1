"""Progress on a terminal's standard error: one line with what takes so long, how much of it is done
and how long the rest will take, which is taken back at the end.

It is drawn by a timer's signal, since a second thread would keep captures from being shared by
processes (`collect.parallel`).
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import click

from podpath.cli.terminal import count_columns, shows_progress
from podpath.net.counted import Counted
from podpath.report.escape import clip, escape

PATIENCE = 0.7
"""Seconds of silence before progress is shown: what is faster needs none."""
REST = 0.1
"""Seconds between two drawings, at least."""
TELLING = 0.02
"""The least share that tells how long the rest will take."""
_LONGEST = 200
"""Characters of what is being done: evidence may name a node by two megabytes."""
LONG = 5.0
"""Seconds after which the time taken is said, where no share is known."""
OFF = "podpath.no-progress"
"""Where a call's `--no-progress` is kept."""


class ProgressLine:
    """Says on a terminal's standard error what takes so long, and takes the line back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with nothing under way."""
        self._clock = clock
        self._doing = ""
        self._share = 0.0
        self._since = self._drawn = self._due = 0.0
        """When what is counted began, when the line was last drawn (0.0: it is not there), and when
        it may be drawn.
        """
        self._active = self._drawing = False
        self._alarm: tuple[object] | None = None
        """What SIGALRM did before, while it is ours."""

    def __call__(self, doing: str, share: float) -> None:
        """Take what is being done and the share that is done: 0.0 as it begins, 1.0 once it has
        ended.
        """
        if share <= 0.0:
            self._begin(doing)
        elif share >= 1.0:
            self._end()
        elif self._active:
            if share < self._share:
                self._since = self._clock()  # another pass
            self._share = share
            if self._clock() >= self._due:
                self._draw()

    def _begin(self, doing: str) -> None:
        context = click.get_current_context(silent=True)
        if not shows_progress() or (context is not None and OFF in context.meta):
            return
        self._end()
        self._doing = escape(doing[:_LONGEST]).encode("ascii", "backslashreplace").decode()
        self._active, self._share, self._since = True, 0.0, self._clock()
        self._due = self._since + PATIENCE
        if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
            self._alarm = (signal.signal(signal.SIGALRM, self._tick),)
            signal.siginterrupt(signal.SIGALRM, False)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE or REST, 1.0)

    def _tick(self, number: int, frame: FrameType | None) -> None:
        _ = number, frame
        self._draw()

    def _draw(self) -> None:
        if self._drawing:
            return  # the timer's signal came while the line is being written
        self._drawing, self._drawn = True, self._clock()
        self._due = self._drawn + REST
        self._write(f"\r{clip(self._say(), max(count_columns() - 1, 8))}\x1b[K")
        self._drawing = False

    def _say(self) -> str:
        words = f"{self._doing} ..."
        share, taken = self._share, self._drawn - self._since
        if share <= 0.0 or (isinstance(share, Counted) and share.is_done):
            if taken < LONG:
                return words
            return f"{words} {_spell_span(taken)}"
        if isinstance(share, Counted):
            words += f" {share.done} of {share.total},"
        words += f" {share:.0%}"
        if share < TELLING or taken < 1.0:
            return words
        return f"{words}, {_spell_span(taken * (1.0 - share) / share)} left"

    def _end(self) -> None:
        if self._alarm is not None:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, self._alarm[0])  # type: ignore[arg-type]  # what it gave
            self._alarm = None
        self._active = False
        if self._drawn:
            self._drawn = 0.0
            self._write("\r\x1b[K")

    @staticmethod
    def _write(text: str) -> None:
        with suppress(OSError, RuntimeError):  # nobody looks, or another line is half written
            sys.stderr.write(text)
            sys.stderr.flush()


def _spell_span(seconds: float) -> str:
    """Spell a span of time as one reads it at a glance."""
    whole = max(round(seconds), 1)
    if whole < 90:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
