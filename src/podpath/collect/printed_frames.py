"""Short printed captures of a case, each with its packets: what may be matched with others.

They were read line by line, as evidence is, without NumPy; long ones are columns instead
(`collect.printed`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from podpath.collect.captures import say_unshown
from podpath.net.provenance import Gap, GapKind
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


def find_unshown_frames(printed: PrintedFrames) -> Iterator[Gap]:
    """Say which packets of a printed capture tell of others that it does not show; nothing where
    they have no times. `ImportError` where NumPy is missing.
    """
    from podpath_capture.flows.tcp import analyse_segments  # noqa: PLC0415 - an extra
    from podpath_capture.flows.unshown import find_unshown  # noqa: PLC0415 - as above
    from podpath_capture.printed.packets import pack_frames  # noqa: PLC0415 - as above

    packed = pack_frames(printed.frames)
    if packed is None:
        return
    columns, flows = packed.capture.packets.columns, packed.flows
    segments = analyse_segments(columns, flows)
    for one in find_unshown(columns, flows, segments, printed=True):
        span = printed.frames[one.row].span
        yield Gap(span, say_unshown(f"line {span.line}", one.what), kind=GapKind.SELECTED)
