"""Files of bundles that other tools made, to sources: each with the command that printed it, its
namespace and its host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from podpath.evidence.files import decode_text, split_lines
from podpath.evidence.gathered import Evidence, make_gap
from podpath.evidence.layouts.layout import LaidOutFile, Part, ReadAs, split_parts
from podpath.evidence.layouts.table import Bundle, NamedFile, find_bundles, is_single, place_file
from podpath.net.errors import EvidenceError
from podpath.net.provenance import GapKind, Source

__all__ = ["Bundle", "NamedFile", "find_bundles", "is_single", "read_bundled"]

Sniff = Callable[[], Evidence]
"""Reads a file by its content, as one of no bundle is read."""
_NOT_OF_A_NETWORK = "states nothing of a network: left out"


class BundleFile(NamedTuple):
    """A file of a bundle as the user finds it."""

    name: str
    """Within what was given."""
    shown: str
    data: bytes


def read_bundled(bundles: tuple[Bundle, ...], file: BundleFile, sniff: Sniff) -> Evidence | None:
    """Read a file as its bundle's layout says; None for a file of no bundle."""
    found = place_file(bundles, file.name)
    if found is None:
        return None
    bundle, placed = found
    if placed is None:
        return _put(sniff(), None, bundle.host)
    if placed.row.how is ReadAs.ASIDE:
        return Evidence(
            (),
            (
                make_gap(
                    file.shown,
                    f"a file of a {bundle.layout.name} {_NOT_OF_A_NETWORK}",
                    kind=GapKind.ASIDE,
                ),
            ),
        )
    if placed.row.how is ReadAs.OUTPUT:
        return _read_outputs(file, placed, empty_tells=bundle.layout.empty_tells)
    try:
        read = _put(sniff(), placed.netns, placed.host)
    except EvidenceError as error:
        if placed.row.how is ReadAs.SNIFFED:
            raise
        return Evidence((), (make_gap(file.shown, str(error), kind=GapKind.ASIDE),))
    if placed.row.how is ReadAs.LOG:
        return read._replace(
            gaps=tuple(gap if gap.cut else gap._replace(kind=GapKind.ASIDE) for gap in read.gaps)
        )
    return read


def _put(found: Evidence, netns: str | None, host: str | None) -> Evidence:
    """Say of sources where they were taken, where they do not say it themselves."""
    if netns is None and host is None:
        return found
    sources = (
        replace(source, netns=source.netns or netns, host=source.host or host)
        for source in found.sources
    )
    return found._replace(sources=tuple(sources))


def _read_outputs(file: BundleFile, placed: LaidOutFile, *, empty_tells: bool) -> Evidence:
    """Return a source for each output in a file; none for an empty one, unless its tool keeps no
    file of what did not run.
    """
    text, gaps = decode_text(file.shown, file.data)
    row = placed.row
    parts = (
        row.rewrite(text)
        if row.rewrite is not None
        else split_parts(row, placed.command, split_lines(text))
    )
    sources: list[Source] = []
    for part in parts:
        if any(line.strip() for line in part.lines):
            sources.append(_make_source(file, placed, part))
        elif empty_tells and part.command:
            sources.append(_make_source(file, placed, part._replace(lines=())))
    return Evidence(tuple(sources), gaps)


def _make_source(file: BundleFile, placed: LaidOutFile, part: Part) -> Source:
    return Source(
        name=f"{file.shown}/{part.name}" if part.name else file.shown,
        lines=part.lines,
        first_line=part.first_line,
        command=part.command or None,
        netns=part.netns or placed.netns,
        host=placed.host,
    )
