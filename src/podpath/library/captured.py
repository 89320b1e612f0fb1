"""Captures to a case, and captures put together: what needs no reader of any other output."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from podpath.assembly.captured_case import assemble_captured
from podpath.collect.capture_files import read_capture_files
from podpath.collect.captures import End, Kept, show_ends
from podpath.collect.printed_frames import find_unshown_frames, list_printed
from podpath.evidence.gathered import Evidence
from podpath.evidence.records import Reading
from podpath.library.case import NodeCase
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.net.provenance import Gap, Source, Span
from podpath.node.case import Case

if TYPE_CHECKING:
    from podpath.collect.matched import MatchedCaptures

UNKNOWN = "expected the output of a command that podpath knows, saw none"


def read_captures_alone(
    paths: Sequence[str], between: Sequence[tuple[End, End]] = (), progress: Progress = silent
) -> NodeCase:
    """Read capture files that come without other evidence, and put them together.

    Of long captures what is said `between` ends is read, where some are named, else what tells of a
    failure.
    """
    kept: list[Kept] = []
    with collecting_seldom():
        with stage(
            progress, f"reading {len(paths)} {'capture' if len(paths) == 1 else 'captures'}"
        ) as tell:
            evidence = read_capture_files(paths, kept.append, tell)
            readings: list[tuple[Source, Reading]] = []
            gaps: list[Gap] = list(evidence.gaps)
            for source, known in narrow_captures(evidence, kept, between):
                reading = known if known is not None else _read_printed(source)
                if reading is not None:
                    readings.append((source, reading))
                else:
                    gaps.append(Gap(span_lines(source), UNKNOWN))
        case = assemble_captured(readings)
        return follow_captures("", replace(case, gaps=(*gaps, *case.gaps)), kept, progress)


def _read_printed(source: Source) -> Reading | None:
    """Read tcpdump's text; None where it is not."""
    from podpath.evidence.formats import NO  # noqa: PLC0415 - as the next
    from podpath.evidence.tcpdump.output import (  # noqa: PLC0415 - slow to load
        read_tcpdump,
        recognise_tcpdump,
    )

    if recognise_tcpdump(source) > NO:
        return read_tcpdump(source)
    return None


def follow_captures(
    name: str, case: Case, kept: Sequence[Kept], progress: Progress = silent
) -> NodeCase:
    """Put the captures of a case together, and add what was lost between them, where they can be
    followed.
    """
    matched = match_captures(case, name_devices(case, kept), progress=progress)
    if matched is None:
        return NodeCase(name=name, facts=case)
    followed = replace(
        case,
        lost=matched.find_lost(),
        gaps=(*case.gaps, *matched.unfollowed),
        thinned=matched.find_thinned(case.sightings),
    )
    return NodeCase(name=name, facts=followed, matched=matched)


def tell_unshown(case: NodeCase, kept: Collection[str]) -> NodeCase:
    """Add what short printed captures say of packets that they do not show, where NumPy is there;
    those of the files that are kept were looked at as they were read.
    """
    printed = list_printed(case.facts, kept)
    try:
        gaps = tuple(chain.from_iterable(map(find_unshown_frames, printed)))
    except ImportError:  # as below
        return case
    return replace(case, facts=replace(case.facts, gaps=(*case.facts.gaps, *gaps)))


def name_devices(case: Case, kept: Sequence[Kept]) -> list[Kept]:
    """Name the devices of a capture on `any` by the listing of the host's devices that comes beside
    it: where it is the only such capture, and the listing has every index.
    """
    listed = {
        link.ifindex: link.name
        for link in case.node.host.links.items
        if link.ifindex is not None and link.span is not None
    }
    unnamed = [one.name for one in kept if listed and not one.devices and _list_indices(one)]
    named: list[Kept] = []
    for one in kept:
        is_alone = unnamed == [one.name]
        if is_alone and _list_indices(one) <= listed.keys():
            named.append(one._replace(devices=listed))
        else:
            named.append(one)
    return named


def _list_indices(kept: Kept) -> frozenset[int]:
    return frozenset(kept.capture.packets.columns.ifindex.tolist()) - {0}


def narrow_captures(
    evidence: Evidence, kept: Sequence[Kept], between: Sequence[tuple[End, End]]
) -> Iterator[tuple[Source, Reading | None]]:
    """Yield the sources with what is read of them already, long captures with the packets that are
    asked about instead.
    """
    known = {capture.name: capture for capture in kept} if between else {}
    readings = dict(evidence.readings)
    shown = {source.name for source in evidence.sources}
    for source in evidence.sources:
        chosen = show_ends(known[source.name], *between[0]) if source.name in known else None
        yield chosen if chosen is not None else (source, readings.get(source))
    for name in known.keys() - shown:  # a long capture that tells of no failure has no lines yet
        chosen = show_ends(known[name], *between[0])
        if chosen is not None:
            yield chosen


def match_captures(
    case: Case, kept: Sequence[Kept], least: int = 2, progress: Progress = silent
) -> MatchedCaptures | None:
    """Put captures together; None where there are none, or fewer than `least` printed ones, or
    NumPy is missing for those.
    """
    printed = list_printed(case, {capture.name for capture in kept})
    if not kept and len(printed) < least:
        return None
    with stage(progress, "following packets"):
        try:
            from podpath.collect.matched import MatchedCaptures  # noqa: PLC0415 - an extra

            return MatchedCaptures(kept, printed)
        except (
            ImportError
        ):  # printed captures are read without NumPy; only what is between them is not followed
            return None


def span_lines(source: Source) -> Span:
    """Return the lines of a source from the first to the last that is not blank."""
    full = [number for number, line in enumerate(source.lines, source.first_line) if line.strip()]
    if full:
        return Span(source, full[0], full[-1])
    return Span(source, *[source.first_line] * 2)
