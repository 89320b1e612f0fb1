"""What was found in an input, and where it came from: what every way of reading one gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from podpath.net.provenance import Gap, Source, Span


class Evidence(NamedTuple):
    """All that was found in the input."""

    sources: tuple[Source, ...]
    gaps: tuple[Gap, ...]
    """Files, and parts of files, that could not be read."""


class Place(NamedTuple):
    """What a bundle's layout says of one of its files."""

    netns: str | None = None
    command: str | None = None
    taken_at: float | None = None


NOWHERE = Place()
"""A file that no bundle places."""


def make_gap(name: str, why: str, lines: Sequence[str] = ()) -> Gap:
    """Make the gap of a file as a whole."""
    return Gap(Span(Source(name=name, lines=tuple(lines)), 1, max(len(lines), 1)), why)
