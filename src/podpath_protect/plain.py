"""Words of strangers made harmless for whoever reads them: no control character, no half of one.

Names of pods, devices and files, termination messages and rules come to us as others wrote them,
and leave in Events, logs and metrics. What a terminal would obey is spelled instead.
"""

from __future__ import annotations


def plain(text: str) -> str:
    r"""Spell what is not printable as Python does: an escape is `\x1b`, a line's end `\n`."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )
