"""Printed captures to columns without an object for a line: what is usual is read here, all other lines are named.

Lines are read by pages that fit into the processor's cache. A line is read only where it is a packet by itself, whatever stands
around it; what a reader of every shape (`evidence.tcpdump.output`) would give for it is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import TYPES
from podpath.capture.files.index import Bytes, Offsets
from podpath.capture.text.cursor import ROOM, Text
from podpath.capture.text.digits import Mask
from podpath.capture.text.front import read_front
from podpath.capture.text.packets import read_packets
from podpath.capture.text.page import FILLED, USUAL, Names, Page

PAGE = 1 << 20
"""Bytes that are read at once, where no line is longer."""
BLOCK = 1 << 20
"""Bytes in which ends of lines are looked for at once."""
LONGEST = 2000
"""Bytes of a line that is read here: readers of every shape look no further, and what stands there decides for none."""
_NEWLINE, _RETURN, _SPACE, _TAB = b"\n\r \t"
_ESCAPE, _ASCII = np.uint8(27), np.uint8(126)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRows:
    """What was read of a text."""

    arrays: dict[str, NDArray[Any]]
    """The columns that lines show, a row for each line that was read."""
    line: Offsets
    """The line of each row, from 0."""
    last: Offsets
    """The last line of each row: of a packet whose IP header is printed, the one below."""
    left: Offsets
    """Lines that were not read and are not empty, from 0."""
    starts: Offsets
    """The byte at which each line of the text begins."""
    ends: Offsets
    """The byte behind each line, without its end of line."""
    links: tuple[str, ...]
    """The devices that lines name, by the number in the column `ifindex` less one."""
    addresses: tuple[int, ...]
    """IPv6 addresses by their numbers."""
    plain: bool
    """True where the text has neither escape sequences nor anything but ASCII."""


def read_rows(data: Bytes) -> PrintedRows:
    """Read the usual lines of a text, as far as it is plain."""
    starts, ends = find_lines(data)
    count, names, plain = len(starts), Names(), True
    arrays = {name: np.zeros(count, TYPES[name]) for name in FILLED}
    for name, value in USUAL.items():
        arrays[name][:] = value
    read, timed, headed = (np.zeros(count, np.bool_) for _ in range(3))
    text: Text | None = None
    for first, stop in _pages(starts, ends):
        at, end = int(starts[first]), int(ends[stop - 1])
        if text is None or len(text.bytes) < end - at + ROOM:
            text = Text(max(end - at, PAGE))
        text.load(data[at:end])
        plain = plain and _is_plain(text.bytes[: end - at])
        page = Page(text, starts[first:stop] - at, ends[first:stop] - at, names)
        page.arrays = {name: values[first:stop] for name, values in arrays.items()}
        read_packets(page, read_front(page))
        read[first:stop], timed[first:stop], headed[first:stop] = page.read, page.timed, page.stated > 0
    alone = _stand_alone(data, starts, timed) & (ends - starts <= LONGEST)
    alone[:-1] = np.where(headed[:-1], alone[1:] & ~timed[1:], alone[:-1])
    read &= alone
    below = np.zeros(count, np.bool_)
    below[1:] = (read & headed)[:-1]
    if not read.all():
        arrays = {name: values[read] for name, values in arrays.items()}
    return PrintedRows(
        arrays=arrays,
        line=np.flatnonzero(read),
        last=np.flatnonzero(read) + headed[read],
        left=np.flatnonzero(~read & ~below & (ends > starts)),
        starts=starts,
        ends=ends,
        links=tuple(text.decode() for text in names.links),
        addresses=tuple(names.addresses),
        plain=plain,
    )


def find_lines(data: Bytes) -> tuple[Offsets, Offsets]:
    """Return where each line begins and ends, without its end of line."""
    parts = [np.flatnonzero(data[at : at + BLOCK] == _NEWLINE) + at for at in range(0, len(data), BLOCK)]
    ends = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    returned = len(ends)
    if len(data) and data[-1] != _NEWLINE:
        ends = np.append(ends, len(data))
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    returns = data[np.maximum(ends - 1, 0)] == _RETURN
    returns[returned:] = False
    return starts, ends - (returns & (ends > starts))


def _pages(starts: Offsets, ends: Offsets) -> Iterator[tuple[int, int]]:
    """Yield the lines of each page: the first, and the one behind the last."""
    first = 0
    while first < len(starts):
        stop = max(int(np.searchsorted(ends, starts[first] + PAGE, "right")), first + 1)
        yield first, stop
        first = stop


def _is_plain(data: Bytes) -> bool:
    return bool(data.max(initial=0) <= _ASCII) and not bool((data == _ESCAPE).any())


def _stand_alone(data: Bytes, starts: Offsets, timed: Mask) -> Mask:
    """Tell behind which lines none stands that may go on with them: all that do are indented, and have no time."""
    first = data[np.minimum(starts, len(data) - 1)]
    alone = np.ones(len(starts), np.bool_)
    alone[:-1] = timed[1:] | (first[1:] != _SPACE) & (first[1:] != _TAB)
    return alone
