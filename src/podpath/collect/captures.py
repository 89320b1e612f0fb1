"""Capture files to evidence: each packet as the line that tcpdump prints of it, so that a span's
line is the packet's number.

Of a long capture only what tells of a failure is shown (`capture.flows.telling`): connections that
may have failed, ARP and ICMP errors.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from podpath.collect.long_captures import Tell, read_held, survey_long, tell_nobody
from podpath.collect.mapping import map_file
from podpath.collect.parallel import count_workers
from podpath.evidence.gathered import NOWHERE, BundlePlace, Evidence, make_gap
from podpath.evidence.records import Reading
from podpath.net.addresses import Address
from podpath.net.errors import EvidenceError, MissingExtra
from podpath.net.provenance import Gap, GapKind, Source, Span

if TYPE_CHECKING:
    from podpath.collect.printed import ReadText
    from podpath_capture.flows.failures import Failures
    from podpath_capture.flows.flows import Flows
    from podpath_capture.flows.telling import Mask
    from podpath_capture.flows.unshown import Unshown
    from podpath_capture.reading.read import DecodedCapture
    from podpath_capture.survey import Survey

MAGICS = tuple(
    bytes.fromhex(magic)
    for magic in (
        "d4c3b2a1",
        "a1b2c3d4",
        "4d3cb2a1",
        "a1b23c4d",
        "34cdb2a1",
        "a1b2cd34",
        "0a0d0d0a",
    )
)
"""The first bytes of pcap, in both byte orders, its finer and its older shape, and of pcapng."""
WHOLE = 2000
"""Packets up to which all are shown: each line costs a tenth of a millisecond."""


def is_capture(head: bytes) -> bool:
    """Tell whether a file's first bytes are those of a capture."""
    return head.startswith(MAGICS)


class Kept(NamedTuple):
    """A capture as it was read, for whoever looks at all of its packets."""

    name: str
    capture: DecodedCapture
    data: bytes | memoryview
    place: BundlePlace
    devices: Mapping[int, str]
    """Names of devices by their index."""
    printed: ReadText | None = None
    """The text, where the capture is a printed one: its packets are quoted by their lines."""
    survey: Survey | None = None
    """What a capture shows that is too long to be held: `capture` has only the packets that tell
    something.
    """
    flows: Flows | None = None
    """The flows of its packets, where they were numbered already."""
    failures: Failures | None = None
    """Who of a long capture refuses how many of those that ask."""
    again: Mask | None = None
    """Which packets of a long capture are sent again."""
    unshown: tuple[Unshown, ...] = ()
    """What packets say of others that the capture leaves out."""

    @property
    def total(self) -> int:
        """How many packets the file has."""
        if self.survey is not None:
            return self.survey.count
        return len(self.capture.packets)


End = tuple[Address | None, int]
"""An address and a port; None and 0 stand for any."""
Keep = Callable[[Kept], None]
"""Takes a capture once it is read."""


def forget(kept: Kept) -> None:
    """Keep nothing: the lines are enough."""
    _ = kept


def read_mapped(
    name: str, file: BinaryIO, keep: Keep = forget, tell: Tell = tell_nobody
) -> Evidence:
    """Read a capture from its file without copying it: only the pages that are looked at are
    loaded.
    """
    size = os.fstat(file.fileno()).st_size
    return read_packets(name, map_file(file, load=count_workers(size) < 2), keep=keep, tell=tell)


def read_packets(
    name: str,
    data: bytes | memoryview,
    place: BundlePlace = NOWHERE,
    devices: Mapping[int, str] | None = None,
    keep: Keep = forget,
    tell: Tell = tell_nobody,
) -> Evidence:
    """Return a capture's packets as printed lines; `devices` are the names of devices by index, for
    captures on `any`.

    `MissingExtra` where NumPy is not installed.
    """
    try:
        from podpath_capture.decoding.undecoded import describe_undecoded  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra(
            f"{name}: reading a capture needs podpath-capture: pip install 'podpath[capture]'"
        ) from error
    try:
        survey, capture = None, read_held(data)
        if capture is None:
            survey = survey_long(name, data, tell)
            capture = survey.capture
    except ValueError as error:
        raise EvidenceError(f"{name}: {error}") from error
    kept = _look_through(Kept(name, capture, data, place, devices or {}, survey=survey))
    keep(kept)
    gaps = [
        make_gap(name, f"byte {damage.offset}: {damage.why}", kind=GapKind.CUT)
        for damage in capture.damages
    ]
    gaps += [
        make_gap(
            name,
            f"the kernel dropped {interface.dropped} packets that the capture does not show",
            kind=GapKind.DROPPED,
        )
        for interface in capture.interfaces
        if interface.dropped
    ]
    gaps += [
        make_gap(name, f"byte {told.offset}: {told.why}", kind=GapKind.SELECTED)
        for told in capture.omissions
    ]
    gaps += _list_unshown(kept)
    undecoded = describe_undecoded(capture.packets, capture.interfaces) if survey is None else ""
    if undecoded:
        gaps.append(make_gap(name, undecoded, kind=GapKind.NOT_MODELLED))
    if not kept.total:
        return Evidence((), (*gaps, make_gap(name, "expected packets, saw a capture of none")))
    return _show(kept, gaps)


def read_printed(name: str, data: bytes | memoryview, keep: Keep = forget) -> Evidence | None:
    """Return of a long printed capture the lines that tell of a failure; None where it is to be
    read line by line.
    """
    from podpath.collect.printed import read_text  # noqa: PLC0415 - slow to load

    try:
        read = read_text(name, data)
    except ImportError:  # without NumPy every line is read by itself
        return None
    if read is None:
        return None
    capture = read.packed.capture
    kept = _look_through(
        Kept(name, capture, b"", NOWHERE, read.packed.devices, read, flows=read.packed.flows)
    )
    keep(kept)
    from podpath_capture.flows.telling import select_telling  # noqa: PLC0415 - as above

    rows = select_telling(capture.packets, kept.flows, kept.failures, kept.again).tolist()
    aside = make_gap(name, _say_how_many(kept, rows), kind=GapKind.ASIDE)
    return Evidence((read.show(rows),), (aside, *_list_unshown(kept)))


def _look_through(kept: Kept) -> Kept:
    """Return a capture with its flows and what it leaves out, and one that is not shown whole with
    what fails in it: by these its packets are selected, and captures matched.
    """
    from podpath_capture.flows.failures import count_failures  # noqa: PLC0415 - as above
    from podpath_capture.flows.flows import number_flows  # noqa: PLC0415 - as above
    from podpath_capture.flows.tcp import analyse_segments  # noqa: PLC0415 - as above
    from podpath_capture.flows.unshown import find_unshown  # noqa: PLC0415 - as above

    columns = kept.capture.packets.columns
    flows = kept.flows or number_flows(columns)
    if kept.survey is not None:
        return kept._replace(
            flows=flows, failures=kept.survey.failures, unshown=kept.survey.unshown
        )
    segments = analyse_segments(columns, flows)
    printed = kept.printed is not None
    unshown = find_unshown(columns, flows, segments, printed=printed)
    kept = kept._replace(flows=flows, unshown=tuple(unshown))
    if len(columns) <= WHOLE:
        return kept
    failures = count_failures(columns, flows)
    return kept._replace(failures=failures, again=segments.retransmission)


def _list_unshown(kept: Kept) -> Iterator[Gap]:
    """Say which packets tell of others that the capture leaves out, each with its line."""
    for one in kept.unshown:
        span = _quote_packet(kept, one.row)
        packet = f"{'packet' if kept.printed is None else 'line'} {span.line}"
        yield Gap(span, say_unshown(packet, one.what), kind=GapKind.SELECTED)


def say_unshown(packet: str, what: str) -> str:
    """Say what a packet tells of others that are not shown, and what became of them."""
    return f"{packet} {what}: a filter or a sample left it out, or it went another way"


def _quote_packet(kept: Kept, row: int) -> Span:
    """Return the line of a packet, by its row in the whole capture."""
    if kept.printed is not None:
        return kept.printed.quote(row)
    from podpath_capture.printed.lines import render_lines  # noqa: PLC0415 - as above

    packets, place = kept.capture.packets, row
    if kept.survey is not None:
        packets, place = kept.survey.read(row), 0
    lines = tuple(render_lines(packets, (place,), kept.devices, kept.data))
    return Span(Source(name=kept.name, lines=lines, first_line=row + 1), row + 1, row + 1)


def _say_how_many(kept: Kept, rows: list[int]) -> str:
    shown = "only ARP, ICMP errors and connections that may have failed are shown"
    return f"of {kept.total} packets {shown}: {len(rows)}"


def _show(kept: Kept, gaps: list[Gap]) -> Evidence:
    """Print the packets: all of them, a line each, or those of a long capture that tell of a
    failure, each with its number.
    """
    from podpath_capture.flows.telling import select_telling  # noqa: PLC0415 - as above

    packets = kept.capture.packets
    numbers: Sequence[int]
    if kept.survey is not None:
        rows, numbers = list(range(len(packets))), kept.survey.rows
    else:
        if len(packets) <= WHOLE:
            rows = list(range(len(packets)))
        else:
            rows = select_telling(packets, kept.flows, kept.failures, kept.again).tolist()
        numbers = rows
    if kept.total > WHOLE:
        gaps.append(make_gap(kept.name, _say_how_many(kept, rows), kind=GapKind.ASIDE))
    source, reading = _quote(kept, rows, numbers if kept.total > WHOLE else None)
    if not source.lines:
        return Evidence((), tuple(gaps))
    return Evidence((source,), tuple(gaps), readings=((source, reading),))


def _quote(
    kept: Kept, rows: list[int], numbers: Sequence[int] | None = None
) -> tuple[Source, Reading]:
    """Make the records of some packets, and the lines that they are quoted by; of packets that are
    not all with `numbers`.
    """
    from podpath_capture.flows.checksums import find_wrong_sums  # noqa: PLC0415 - as above
    from podpath_capture.printed.lines import LineWriter  # noqa: PLC0415 - as above
    from podpath_capture.records import read_records  # noqa: PLC0415 - as above

    capture = kept.capture
    wrong = find_wrong_sums(capture.packets, kept.data, capture.interfaces, rows)
    writer = LineWriter(capture.packets, rows, kept.devices, kept.data, wrong)
    start = next((at for at in range(len(rows)) if not writer.is_blank(at)), len(rows))
    source = _as_source(kept, writer.lines[start:], start + 1)
    return source, read_records(source, capture.packets, rows, kept.devices, wrong, numbers)


def _as_source(kept: Kept, lines: Sequence[str], first: int) -> Source:
    command = kept.place.command or f"tcpdump{_interface(kept.capture)}"
    return Source(
        name=kept.name,
        lines=lines,
        first_line=first,
        command=f"{command} -nn -e -S -tttt -r {shlex.quote(kept.name)}",
        netns=kept.place.netns,
        taken_at=kept.place.taken_at,
    )


def show_ends(kept: Kept, one: End, other: End) -> tuple[Source, Reading | None] | None:
    """Show what is said between two ends in a long capture, beside what tells of a failure; None
    for a short one.

    Of a printed one there are the lines alone, which are still to be read.
    """
    from podpath_capture.flows.telling import (  # noqa: PLC0415 - as above
        select_ends,
        select_telling,
    )

    if kept.survey is not None:
        chosen, numbers = kept.survey.select(one, other)
        return _quote(kept._replace(capture=chosen), list(range(len(numbers))), numbers)
    packets = kept.capture.packets
    if len(packets) <= WHOLE:
        return None
    telling = select_telling(packets, kept.flows, kept.failures, kept.again)
    rows = sorted({*select_ends(packets, one, other).tolist(), *telling.tolist()})
    if kept.printed is not None:
        return kept.printed.show(rows), None
    return _quote(kept, rows, rows)


def _interface(capture: DecodedCapture) -> str:
    """Write the option that names the one device that a capture says it was taken on."""
    names = {interface.name for interface in capture.interfaces}
    name = next(iter(names)) if len(names) == 1 else ""
    if name and " " not in name:
        return f" -i {name}"
    return ""


def device_names(listing: bytes) -> dict[int, str]:
    """Read the names of devices by their index from the output of `ip -j link`; none where it is no
    such output.
    """
    import json  # noqa: PLC0415 - only where a listing is beside the capture

    try:
        links = json.loads(listing)
    except ValueError:
        return {}
    found = links if isinstance(links, list) else []
    return {
        link["ifindex"]: str(link["ifname"])
        for link in found
        if isinstance(link, dict) and {"ifindex", "ifname"} <= link.keys()
    }
