"""Asks a layout about a file by its path, in one line."""

from __future__ import annotations

from typing import NamedTuple

from podpath.evidence.layouts.layout import BundleLayout, ReadAs, place


class Told(NamedTuple):
    """What a layout says of a file."""

    command: str
    netns: str | None = None
    host: str | None = None
    how: ReadAs = ReadAs.OUTPUT


def told(layout: BundleLayout, path: str, host: str | None = None) -> Told | None:
    """Return what a layout says of a path; None where no row knows it."""
    placed = place(layout, path, host)
    return (
        None if placed is None else Told(placed.command, placed.netns, placed.host, placed.row.how)
    )
