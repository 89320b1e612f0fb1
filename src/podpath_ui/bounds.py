"""The sizes that the page and its server keep, whatever stands in the evidence."""

from __future__ import annotations

from podpath.report.escape import clip, escape

NAME = 160
"""Characters of a name in a list."""
LISTED = 4000
"""Entries of a list that the page offers; of more, the others may be typed."""
SAID = 2000
"""Characters of an error or a title."""
COMMAND = 500
"""Characters of a command that is offered: a longer one is left out, never cut."""
FIXES, COMMANDS, TRIED = 4, 8, 6
"""Fixes that are offered, commands of each, and failed connections of the evidence."""
ASKED = 256 << 10
"""Bytes of a question, which holds the text of a change."""
UPLOADED = 64 << 20
"""Bytes of a bundle that is compared with."""
KEPT = 24
"""Answers that may still be looked at; the oldest goes first."""


def shorten(text: str, width: int = NAME) -> str:
    """Return a text on one line that is safe to show and has at most so many characters."""
    return clip(escape(text), width)
