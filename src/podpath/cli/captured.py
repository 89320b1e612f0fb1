"""Captures from the command line to a case, and captures put together: what needs no reader of any other output."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.assembly.captured_case import assemble_captured
from podpath.cli.terminal import progress
from podpath.collect.capture_files import read_capture_files
from podpath.collect.captures import End, Kept, show_ends
from podpath.collect.matched import MatchedCaptures, list_printed
from podpath.evidence.formats import NO
from podpath.evidence.records import Reading
from podpath.evidence.tcpdump.output import read_tcpdump, recognise_tcpdump
from podpath.net.provenance import Gap, Source, Span
from podpath.node.case import Case

UNKNOWN = "expected the output of a command that podpath knows, saw none"


def read_captures_alone(paths: Sequence[str], between: Sequence[tuple[End, End]] = ()) -> tuple[Case, MatchedCaptures | None]:
    """Read capture files that come without other evidence, and put them together.

    Of long captures what is said `between` ends is read, where some are named, else what tells of a failure.
    """
    look_seldom()
    kept: list[Kept] = []
    with progress(f"reading {len(paths)} {'capture' if len(paths) == 1 else 'captures'}") as tell:
        evidence = read_capture_files(paths, kept.append, tell)
        readings: list[tuple[Source, Reading]] = []
        gaps: list[Gap] = list(evidence.gaps)
        for source in narrow_captures(evidence.sources, kept, between):
            if recognise_tcpdump(source) > NO:
                readings.append((source, read_tcpdump(source)))
            else:
                gaps.append(Gap(first_line(source), UNKNOWN))
    case = assemble_captured(readings)
    keep_standing()
    return follow_captures(replace(case, gaps=(*gaps, *case.gaps)), kept)


def follow_captures(case: Case, kept: Sequence[Kept]) -> tuple[Case, MatchedCaptures | None]:
    """Add what was lost between captures to a case; None where there are none that can be put together."""
    matched = match_captures(case, kept)
    if matched is None:
        return case, None
    return replace(case, lost=matched.find_lost(), gaps=(*case.gaps, *matched.unfollowed)), matched


def narrow_captures(sources: Sequence[Source], kept: Sequence[Kept], between: Sequence[tuple[End, End]]) -> Iterator[Source]:
    """Give the sources, long captures among them with the packets that are asked about instead."""
    known = {capture.name: capture for capture in kept} if between else {}
    shown = {source.name for source in sources}
    for source in sources:
        chosen = show_ends(known[source.name], *between[0]) if source.name in known else None
        yield chosen if chosen is not None else source
    for name in known.keys() - shown:  # a long capture that tells of no failure has no lines yet
        chosen = show_ends(known[name], *between[0])
        if chosen is not None:
            yield chosen


def match_captures(case: Case, kept: Sequence[Kept], least: int = 2) -> MatchedCaptures | None:
    """Put captures together; None where there are none, or fewer than `least` printed ones, or NumPy is missing for those."""
    printed = list_printed(case, {capture.name for capture in kept})
    if not kept and len(printed) < least:
        return None
    with progress("following packets"):
        try:
            return MatchedCaptures(kept, printed)
        except ImportError:  # printed captures are read without NumPy; only what is between them is not followed
            return None


def keep_standing() -> None:
    """Keep what stands now out of the garbage collector's way, and have it look seldom.

    A case lives as long as the process, with 150,000 rules; what walks leave behind is values, hardly ever cycles.
    """
    gc.freeze()
    look_seldom()


def look_seldom() -> None:
    """Have the garbage collector look seldom: what is read stays."""
    gc.set_threshold(100_000)


def first_line(source: Source) -> Span:
    """Give the first line of a source that is not blank."""
    number = next((number for number, line in enumerate(source.lines) if line.strip()), 0)
    return Span(source, source.first_line + number, source.first_line + number)
