"""A capture of any length in bounded memory: what it shows as a whole, and the packets of it that
tell something.

The file is decoded batch by batch; what tells connections apart, and how they went, goes into a
store (`reading.narrow`). Then connections are judged some at a time. All of that gives what the
capture would give in one piece; only what is held at once is less: five bytes for each packet, and
the packets of one batch, or of one connection, where that is longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from podpath.net.addresses import Address
from podpath_capture.arrays.segments import distinct
from podpath_capture.columns import CUT, PacketColumns, Packets
from podpath_capture.decoding.decode import unread_link_types
from podpath_capture.files.file import as_bytes, index_packets
from podpath_capture.files.index import Contents
from podpath_capture.flows.failures import Failures
from podpath_capture.flows.flows import Flows, number_flows
from podpath_capture.flows.mac_changes import find_changing_macs
from podpath_capture.flows.tcp import analyse_segments
from podpath_capture.flows.telling import SHARE, choose, find_errors, find_odd, select_ends, thin
from podpath_capture.flows.unshown import Unshown, UnshownPackets
from podpath_capture.points import CapturedFile, Point, name_devices, number_points
from podpath_capture.reading.narrow import Narrow, Store, decode_rows, take
from podpath_capture.reading.read import DecodedCapture, list_omissions, read_batches

Rows = NDArray[np.int64]
BATCH = 1 << 19
"""Packets that are decoded, or judged, at once."""
Tell = Callable[[float], None]
"""Is told which share of the work is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a long capture shows."""

    count: int
    """Its packets."""
    capture: DecodedCapture
    """The packets that tell something, alone."""
    rows: tuple[int, ...]
    """Where each of these stands among all packets, from 0."""
    states: Mapping[str, int]
    """How many TCP connections went how, by Zeek's word, in the order in which the first of each
    began.
    """
    failures: Failures
    """Who refuses how many of those that ask."""
    unshown: tuple[Unshown, ...]
    """What packets say of others that the capture leaves out."""
    flows: Flows
    narrow: Narrow
    data: NDArray[np.uint8]

    def select(
        self, one: tuple[Address | None, int], other: tuple[Address | None, int]
    ) -> tuple[DecodedCapture, tuple[int, ...]]:
        """Return the packets that tell something and those that are said between two ends, with
        their rows.
        """
        packets = Packets(
            columns=self.narrow.columns,
            arps=self.capture.packets.arps,
            quotes=self.capture.packets.quotes,
            addresses=self.narrow.addresses,
        )
        rows = np.union1d(select_ends(packets, one, other), np.array(self.rows, np.int64))
        chosen = decode_rows(self.data, self.narrow.columns, list(self.capture.interfaces), rows)
        return replace(self.capture, packets=chosen), tuple(rows.tolist())

    def read(self, row: int) -> Packets:
        """Read one packet, with all that is known of it."""
        rows = np.array([row], np.int64)
        return decode_rows(self.data, self.narrow.columns, list(self.capture.interfaces), rows)

    def part(self) -> Iterator[tuple[Packets, Flows]]:
        """Yield the packets of some conversations after the others, with their flows."""
        for columns, _, flows in _part(self.narrow.columns, self.flows):
            packets = replace(
                self.capture.packets, columns=columns, addresses=self.narrow.addresses
            )
            yield packets, flows

    def list_points(self, file: CapturedFile) -> tuple[Point, ...]:
        """Return the points of the whole capture; `file` says what it is called and where it was
        taken.
        """
        counts: Counter[int] = Counter()
        cut: Counter[int] = Counter()
        shown: dict[int, list[int]] = {}
        for start, columns in self.narrow.slabs(BATCH):
            words = name_devices(columns)
            for word in distinct(words).tolist():
                here = np.flatnonzero(words == word)
                counts[word] += len(here)
                cut[word >> 2] += int((columns.broken[here] == CUT).sum())
                times = columns.time[here]
                shown.setdefault(word, []).extend(
                    int(here[at]) + start for at in (0, times.argmin(), times.argmax())
                )
        rows = np.array(sorted({row for rows in shown.values() for row in rows}), np.int64)
        few = take(self.narrow.columns, rows)
        packets = replace(self.capture.packets, columns=few)
        numbered = number_points(
            [replace(file, capture=replace(self.capture, packets=packets), data=None)]
        )
        named = dict(zip(numbered.places[0].tolist(), name_devices(few).tolist(), strict=True))
        return tuple(
            replace(point, packets=counts[named[point.number]], cut=cut[named[point.number] >> 2])
            for point in numbered.points
        )


def is_long(buffer: bytes | memoryview, most: int) -> bool:
    """Tell whether a capture has more packets than that; `ValueError` where it is none."""
    count = 0
    for index in index_packets(as_bytes(buffer), Contents()):
        count += len(index)
        if count > most:
            return True
    return False


def survey_capture(buffer: bytes | memoryview, store: Store, tell: Tell) -> Survey:
    """Read a capture of any length; `ValueError` where it is none."""
    data, contents = as_bytes(buffer), Contents()
    narrow = Narrow(store)
    arps, errors = _add_all(data, contents, narrow, lambda place: tell(place / len(data) * 0.8))
    columns = narrow.columns
    flows = number_flows(columns)
    failures = Failures(int(columns.time.max()) if len(columns) else 0)
    unshown = UnshownPackets(int(columns.time.min()) if len(columns) else 0)
    chosen = [np.zeros(0, np.int64)]
    for some, rows, mine in _part(columns, flows):
        segments = analyse_segments(some, mine)
        odd = find_odd(some, mine, segments.retransmission)
        failures.add(some, mine, rows)
        unshown.add(some, mine, segments, rows)
        chosen.append(rows[thin(some, mine, np.flatnonzero(odd[mine.number] & (mine.number >= 0)))])
        tell(0.8 + 0.15 * (int(rows[-1]) + 1) / len(columns))
    macs = find_changing_macs(lambda: narrow.slabs(BATCH), SHARE)
    shown = np.sort(np.concatenate(chosen))
    telling = choose(shown, failures.rows, (arps, errors, macs), len(columns))
    packets = decode_rows(data, columns, contents.interfaces, telling)
    damages = sorted([*contents.damages, *unread_link_types(contents.interfaces)])
    capture = DecodedCapture(
        packets=packets,
        interfaces=tuple(contents.interfaces),
        damages=tuple(damages),
        names=dict(contents.names),
        omissions=list_omissions(contents, columns),
    )
    return Survey(
        count=len(columns),
        capture=capture,
        rows=tuple(telling.tolist()),
        states=failures.states,
        failures=failures,
        unshown=tuple(unshown.find(lambda: (each for _, each in narrow.slabs(BATCH)))),
        flows=flows,
        narrow=narrow,
        data=data,
    )


def _add_all(
    data: NDArray[np.uint8], contents: Contents, narrow: Narrow, tell: Tell
) -> tuple[Rows, Rows]:
    """Read all packets into the narrow columns; give the first rows that are ARP, and the first
    that are ICMP errors.
    """
    arps: list[Rows] = [np.zeros(0, np.int64)]
    errors: list[Rows] = [np.zeros(0, np.int64)]
    start = 0
    for packets in read_batches(data.data, contents, BATCH):
        if not len(packets):
            continue
        columns = narrow.add(packets)
        for found, rows in (
            (arps, packets.arps.row),
            (errors, np.flatnonzero(find_errors(columns))),
        ):
            if sum(map(len, found)) < SHARE:
                found.append(rows[:SHARE] + start)
        start += len(packets)
        tell(float(columns.offset[-1]))
    return np.concatenate(arps), np.concatenate(errors)


def _part(columns: PacketColumns, flows: Flows) -> Iterator[tuple[PacketColumns, Rows, Flows]]:
    """Yield the packets of some flows after the others, about a batch at a time, with their rows
    and their flows.
    """
    counts = np.zeros(len(flows) + 1, np.int64)
    for start in range(0, len(columns), BATCH):
        counts += np.bincount(
            flows.number[start : start + BATCH] + np.int32(1), minlength=len(counts)
        )
    ends = np.cumsum(counts[1:])
    low = 0
    while low < len(flows):
        before = int(ends[low - 1]) if low else 0
        high = max(int(np.searchsorted(ends, before + BATCH, side="right")), low + 1)
        start = int(flows.first[low])
        numbers = flows.number[start:]
        rows = np.flatnonzero((numbers >= low) & (numbers < high)) + start
        first = np.searchsorted(rows, flows.first[low:high])
        yield (
            take(columns, rows),
            rows,
            Flows(
                number=flows.number[rows] - np.int32(low),
                first=first.astype(np.int64),
                forward=flows.forward[rows],
            ),
        )
        low = high
