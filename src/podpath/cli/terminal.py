"""What the terminal can show, and progress on it: the only module that looks at the streams' nature and the environment."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from podpath.report.style import Style

PATIENCE = 0.7
"""Seconds of silence before progress is shown: what is faster needs none."""
NARROW, WIDE = 60, 120
"""Prose narrower than this is torn, wider is hard to read."""


def choose_style(colour: str, *, verbose: bool) -> Style:
    """Choose colours, signs and width for standard output.

    `auto` colours a terminal only, and not where NO_COLOR is set (no-color.org) or the terminal is dumb.
    """
    tty = sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    columns = shutil.get_terminal_size((100, 24)).columns if tty else 100
    return Style(
        colour=colour == "always" or (colour == "auto" and tty and not plain),
        unicode=encoding.startswith("utf"),
        verbose=verbose,
        width=min(max(columns, NARROW), WIDE),
    )


@contextmanager
def progress(doing: str) -> Iterator[Callable[[float], None]]:
    """Say on a terminal's standard error what takes so long, and take the line back when it is done.

    What is given takes the share of the work that is done, from those who know it.
    """
    if not sys.stderr.isatty():
        yield _say_nothing
        return
    shown = threading.Event()

    def show() -> None:
        shown.set()
        say("")

    def say(share: str) -> None:
        sys.stderr.write(f"\r{doing} ...{share}")
        sys.stderr.flush()

    def tell(share: float) -> None:
        if shown.is_set():
            say(f" {min(share, 1.0):4.0%}")

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        if shown.is_set():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _say_nothing(share: float) -> None:
    _ = share
