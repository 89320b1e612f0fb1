"""What every reader of evidence promises of any bytes whatever: it ends, and its account covers
what it was given.

Each function takes an input, and raises only where a promise is broken. The suite gives them
Hypothesis' inputs (tests/test_fuzz.py), `scripts/fuzz` gives them atheris' (`fuzz.__main__`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from fuzz.tenants import read_tenant
from podpath.evidence.tcpdump.output import read_tcpdump, recognise_tcpdump
from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.reading import read_logs
from podpath_capture.files import walk
from podpath_capture.flows.flows import number_flows
from podpath_capture.flows.tcp import analyse_segments
from podpath_capture.flows.tcp_states import find_tcp_states
from podpath_capture.printed.lines import render_lines
from podpath_capture.reading.read import DecodedCapture, read_capture

NOW = 1_742_472_000.0
PCAP = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
SECTION = bytes.fromhex("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000")


class PromiseBroken(AssertionError):
    """A reader did what no reader may."""


def read_pcap(data: bytes) -> None:
    """Read a pcap file; bytes without its magic get its header, with a link type and a byte order
    of their own.
    """
    head = PCAP[:20] + (data[:1] or b"\1") + PCAP[21:]
    _read_file(data if data[:4] == PCAP[:4] else head + data[1:])


def read_pcapng(data: bytes) -> None:
    """Read a pcapng file; bytes without its magic get a section to stand in."""
    _read_file(data if data[:4] == SECTION[:4] else SECTION + data)


def read_text(data: bytes) -> None:
    """Read tcpdump's text: every line that is not blank is in the span of a record or of a gap."""
    source = Source(
        name="printed",
        lines=tuple(data.decode("utf-8", "replace").split("\n")),
        command="tcpdump -nn",
    )
    recognise_tcpdump(source)
    reading = read_tcpdump(source)
    spans = [*(record.span for record in reading.records), *(gap.span for gap in reading.gaps)]
    _check_covered(source, [(span.line, span.last_line) for span in spans])


def read_log(data: bytes) -> None:
    """Read a log: every line that is not blank belongs to an event, a gap or a heading."""
    source = Source(name="messages", lines=tuple(data.decode("utf-8", "replace").split("\n")))
    for reading in read_logs((source,), Clock(now=NOW)).readings:
        spans = [
            *(event.span for event in reading.events),
            *(gap.span for gap in reading.gaps),
            *reading.headings,
        ]
        _check_covered(source, [(span.line, span.last_line) for span in spans])


def _check_covered(source: Source, spans: list[tuple[int, int]]) -> None:
    covered = {number for first, last in spans for number in range(first, last + 1)}
    left = [
        line
        for number, line in enumerate(source.lines, source.first_line)
        if line.strip() and number not in covered
    ]
    if left:
        raise PromiseBroken(f"lines of no record and no gap: {left[:3]!r}")


def _read_file(data: bytes) -> None:
    """Read a capture as it stands, and in lanes as short as they can be: both walks give the
    same.
    """
    try:
        capture = read_capture(data)
    except ValueError:
        return
    _check_capture(capture, len(data))
    with short_lanes():
        again = read_capture(data)
    same = (
        np.array_equal(capture.packets.columns.offset, again.packets.columns.offset)
        and capture.damages == again.damages
    )
    if not same:
        raise PromiseBroken("lanes and the careful walk disagree")


def _check_capture(capture: DecodedCapture, size: int) -> None:
    """Look at all that is made of a capture."""
    columns = capture.packets.columns
    if len(columns) and int((columns.offset + columns.caplen).max()) > size:
        raise PromiseBroken("a packet ends behind its file")
    if any(not 0 <= damage.offset <= size for damage in capture.damages):
        raise PromiseBroken("a damage outside of its file")
    flows = number_flows(columns)
    analyse_segments(columns, flows)
    find_tcp_states(columns, flows)
    if len(render_lines(capture.packets, range(len(columns)))) != len(columns):
        raise PromiseBroken("a packet without a line")


@contextmanager
def short_lanes() -> Iterator[None]:
    """Let lanes be so short that a small file has some."""
    kept = walk.LANE_BYTES, walk.WINDOWS
    walk.LANE_BYTES, walk.WINDOWS = 64, (64, 256, 1024)
    try:
        yield
    finally:
        walk.LANE_BYTES, walk.WINDOWS = kept


READERS: dict[str, Callable[[bytes], None]] = {
    "pcap": read_pcap, "pcapng": read_pcapng, "tcpdump": read_text, "log": read_log,
    "tenant": read_tenant,
}  # fmt: skip
"""By the name that `scripts/fuzz` takes."""
