"""What the terminal can show: the only module that looks at the streams' nature and the environment
for that.
"""

from __future__ import annotations

import os
import sys

from podpath.report.style import Style

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
    columns = _read_columns(100) if tty else 100
    return Style(
        color=color == "always" or (color == "auto" and tty and not plain),
        unicode=encoding.startswith("utf"),
        verbose=verbose,
        brief=brief,
        width=min(max(columns, NARROW), WIDE),
    )


def shows_progress() -> bool:
    """Tell whether standard error is a terminal on which a line can be written over."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def count_columns() -> int:
    """Return how wide the terminal is; 80 where none says so."""
    return _read_columns(80)


def _read_columns(otherwise: int) -> int:
    """Return how wide the terminal is, or is said to be."""
    import shutil  # slow to load

    return shutil.get_terminal_size((otherwise, 24)).columns
