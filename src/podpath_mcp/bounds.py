"""The sizes that every answer keeps, whatever stands in the evidence.

What comes in is of any length; what goes out is safe to print, short, and says how much of it was
left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from podpath.report.escape import clip, escape

T = TypeVar("T")
SENTENCE = 600
"""Characters of a claim, a reason or the summary's lines."""
QUOTED = 300
"""Characters of a quoted line: with its neighbors it is a resource."""
NAME = 200
"""Characters of a name, a place or a connection."""
COMMAND = 500
"""Characters of a command. A longer one is left out: half a command must not be copied."""
PASTED = 4 << 20
"""Characters of a text that is given in a call."""
PART = 250_000
"""Characters of a part of a long resource."""
WHOLE = 1_000_000
"""Characters up to which a resource is given in one piece."""
KEPT = 16
"""Answers whose resources are kept; the oldest goes first."""
HELD = 32_000_000
"""Characters that the resources of all kept answers may take together."""


def shorten(text: str, width: int) -> str:
    """Return a text on one line that is safe to print and has at most so many characters."""
    return clip(escape(text), width)


def shorten_lines(text: str, width: int) -> str:
    """Return lines that are safe to print, all of them together of at most so many characters."""
    lines: list[str] = []
    left = width
    for line in text.split("\n"):
        if left <= 0:
            lines.append("...")
            break
        lines.append(shorten(line, left))
        left -= len(lines[-1]) + 1
    return "\n".join(lines)


def shorten_commands(commands: Sequence[str], most: int) -> tuple[list[str], int]:
    """Return the first commands that are short enough to be given whole, and how many are left
    out.
    """
    whole = [command for command in commands[:most] if len(command) <= COMMAND]
    return whole, len(commands) - len(whole)
