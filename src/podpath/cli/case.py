"""Evidence from the command line to a case: files read, sources recognised, a node assembled."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.assembly.case import assemble_case
from podpath.cli.terminal import progress
from podpath.collect.captures import End, Kept, show_ends
from podpath.collect.matched import MatchedCaptures, list_printed
from podpath.collect.read import read_evidence
from podpath.evidence.recognition import read
from podpath.evidence.records import HeadingRecord, Reading
from podpath.net.errors import EvidenceError
from podpath.net.probe import Probe
from podpath.net.provenance import Gap, Source, Span
from podpath.node.case import Case

UNKNOWN = "expected the output of a command that podpath knows, saw none"


def read_case(paths: Sequence[str], asked: Sequence[Probe] = ()) -> Case:
    """Read all evidence; `EvidenceError` where nothing in it is of a kind that podpath knows."""
    return read_captured(paths, asked)[0]


def read_captured(
    paths: Sequence[str],
    asked: Sequence[Probe] = (),
    sources: list[Source] | None = None,
    between: Sequence[tuple[End, End]] = (),
) -> tuple[Case, MatchedCaptures | None]:
    """Read all evidence, with its captures put together; None where no capture file is among it.

    `sources` is given what was read, for those who look for more in it than a node. Of long captures what is said `between` ends
    is read, where some are named, else what tells of a failure.
    """
    kept: list[Kept] = []
    with progress(f"reading {len(paths)} {'input' if len(paths) == 1 else 'inputs'}"):
        evidence = read_evidence(paths, keep=kept.append)
        readings: list[tuple[Source, Reading]] = []
        gaps: list[Gap] = list(evidence.gaps)
        if sources is not None:
            sources += evidence.sources
        for source in _narrowed(evidence.sources, kept, between):
            reading = read(source)
            if reading is not None:
                readings.append((source, reading))
            elif any(line.strip() for line in source.lines):
                gaps.append(Gap(_first_line(source), UNKNOWN))
        if not kept and not any(_states_something(reading) for _, reading in readings):
            raise EvidenceError(_nothing_read(paths, gaps))
    with progress("putting the node together"):
        case = assemble_case(readings, tuple(end for probe in asked for end in (probe.src, probe.dst)))
    keep_standing()
    case = replace(case, gaps=(*gaps, *case.gaps))
    matched = match_captures(case, kept)
    return (case, None) if matched is None else (replace(case, lost=matched.find_lost()), matched)


def _narrowed(sources: Sequence[Source], kept: Sequence[Kept], between: Sequence[tuple[End, End]]) -> Iterator[Source]:
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
    gc.set_threshold(100_000)


def parse_probes(texts: Sequence[str]) -> tuple[Probe, ...]:
    """Read probes; `UsageError` says which part is wrong."""
    return tuple(Probe.parse(text) for text in texts)


def _states_something(reading: Reading) -> bool:
    return any(not isinstance(record, HeadingRecord) for record in reading.records)


def _first_line(source: Source) -> Span:
    number = next((number for number, line in enumerate(source.lines) if line.strip()), 0)
    return Span(source, source.first_line + number, source.first_line + number)


def _nothing_read(paths: Sequence[str], gaps: Sequence[Gap]) -> str:
    names = ", ".join("standard input" if path == "-" else path for path in paths)
    why = f"; {gaps[0].span.source.name}: {gaps[0].why}" if gaps else ""
    return (
        f"{names}: expected outputs such as `ip route`, `iptables-save`, `tcpdump -n`, `sysctl -a`, or a ticket with some of "
        f"them, saw none{why}\n`podpath diagnose --help` shows what can be given; `podpath timeline` reads logs alone"
    )
