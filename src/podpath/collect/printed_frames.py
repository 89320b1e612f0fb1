"""Short printed captures of a case, each with its packets: what may be matched with others.

They were read line by line, as evidence is, without NumPy; long ones are columns instead
(`collect.printed`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from podpath.node.case import Case, Sighting


class PrintedFrames(NamedTuple):
    """The packets of a short printed capture, in their order."""

    name: str
    frames: tuple[Sighting, ...]


def list_printed(case: Case, kept: Collection[str]) -> tuple[PrintedFrames, ...]:
    """Return the printed captures of a case, each with its packets; those of the files that are
    kept are no printed ones.

    A text without the commands that printed it is one capture, though notes may stand in it.
    """
    groups: dict[int | str, list[Sighting]] = {}
    for seen in case.sightings:
        source = seen.span.source
        if source.name not in kept:
            groups.setdefault(source.name if source.command is None else seen.capture, []).append(
                seen
            )
    found = []
    for frames in groups.values():
        name, line = frames[0].span.source.name, frames[0].span.line
        alone = sum(each[0].span.source.name == name for each in groups.values()) == 1
        found.append(PrintedFrames(name if alone else f"{name}:{line}", tuple(frames)))
    return tuple(found)
