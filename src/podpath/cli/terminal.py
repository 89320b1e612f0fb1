"""What the terminal can show, and progress on it: the only module that looks at the streams' nature
and the environment.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading

from podpath.report.style import Style

PATIENCE = 0.7
"""Seconds of silence before progress is shown: what is faster needs none."""
NARROW, WIDE = 60, 120
"""Prose narrower than this is torn, wider is hard to read."""


def choose_style(color: str, *, verbose: bool, brief: bool = False) -> Style:
    """Choose colors, signs and width for standard output.

    `auto` colors a terminal only, and not where NO_COLOR is set (no-color.org) or the terminal is
    dumb.
    """
    tty = sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    columns = shutil.get_terminal_size((100, 24)).columns if tty else 100
    return Style(
        color=color == "always" or (color == "auto" and tty and not plain),
        unicode=encoding.startswith("utf"),
        verbose=verbose,
        brief=brief,
        width=min(max(columns, NARROW), WIDE),
    )


class ProgressLine:
    """Says on a terminal's standard error what takes so long, with its share where that is known,
    and takes the line back.
    """

    def __init__(self) -> None:
        """Start with nothing under way."""
        self._timer: threading.Timer | None = None
        self._shown = threading.Event()

    def __call__(self, doing: str, share: float) -> None:
        """Take what is being done and the share that is done: 0.0 as it begins, 1.0 once it has
        ended.
        """
        if share <= 0.0:
            self._begin(doing)
        elif share >= 1.0:
            self._end()
        elif self._shown.is_set():
            _say(f"{doing} ... {share:4.0%}")

    def _begin(self, doing: str) -> None:
        if not sys.stderr.isatty():
            return
        self._timer = threading.Timer(PATIENCE, self._show, (doing,))
        self._timer.daemon = True
        self._timer.start()

    def _show(self, doing: str) -> None:
        self._shown.set()
        _say(f"{doing} ...")

    def _end(self) -> None:
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        if self._shown.is_set():
            self._shown.clear()
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _say(text: str) -> None:
    sys.stderr.write(f"\r{text}")
    sys.stderr.flush()
