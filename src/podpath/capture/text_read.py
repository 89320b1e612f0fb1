"""Printed captures to columns without an object for a line: what is usual is read here, all other lines are named.

Lines are read by pages that fit into the processor's cache. A line is read only where it is a packet by itself, whatever stands
around it; what a reader of every shape (`evidence.tcpdump`) would give for it is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import TYPES
from podpath.capture.index import Bytes, Offsets
from podpath.capture.text_cursor import Mask, Text
from podpath.capture.text_front import read_front
from podpath.capture.text_packets import read_packets
from podpath.capture.text_page import FILLED, Names, Page

PAGE = 3 << 19
"""Bytes that are read at once."""
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
    names, count, plain = Names(), 0, True
    columns: dict[str, list[NDArray[Any]]] = {name: [np.zeros(0, TYPES[name])] for name in FILLED}
    places: dict[str, list[Offsets]] = {name: [np.zeros(0, np.int64)] for name in ("line", "left", "starts", "ends")}
    for at, page, count_here in _pages(data, names):
        plain = plain and not bool(((page.text.bytes > _ASCII) | (page.text.bytes == _ESCAPE)).any())
        read_packets(page, read_front(page))
        read = page.read & _stand_alone(page) & (page.ends - page.starts <= LONGEST)
        read = read[:count_here]
        starts, ends = page.starts[:count_here], page.ends[:count_here]
        for name, values in page.arrays.items():
            columns[name].append(values[:count_here] if read.all() else values[:count_here][read])
        places["line"].append(np.flatnonzero(read) + count)
        places["left"].append(np.flatnonzero(~read & (ends > starts)) + count)
        places["starts"].append(starts + at)
        places["ends"].append(ends + at)
        count += count_here
    return PrintedRows(
        arrays={name: _join(parts) for name, parts in columns.items()},
        links=tuple(text.decode() for text in names.links),
        addresses=tuple(names.addresses),
        plain=plain,
        **{name: _join(parts) for name, parts in places.items()},
    )


def _join(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Put parts together, and let go of them."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def _pages(data: Bytes, names: Names) -> Iterator[tuple[int, Page, int]]:
    """Give the lines of a text page by page: where each begins, and how many lines are its own; one more is there to look at."""
    at = 0
    while at < len(data):
        size = PAGE
        newlines = _find(data, at, size)
        while len(newlines) < 2 and at + size < len(data):
            size *= 4
            newlines = _find(data, at, size)
        last = at + size >= len(data)
        if last and data[-1] != _NEWLINE:
            newlines = np.append(newlines, len(data) - at)
        stop = int(newlines[-1])
        starts = np.append(np.int64(0), newlines[:-1] + 1)
        text = Text(data[at : at + stop])
        returns = (newlines > starts) & (text.bytes[np.maximum(newlines - 1, 0)] == _RETURN) & (newlines + at < len(data))
        own = len(starts) if last else len(starts) - 1
        yield at, Page(text, starts, newlines - returns, names), own
        at += stop + 1 if last else int(starts[-1])


def _find(data: Bytes, at: int, size: int) -> Offsets:
    return np.flatnonzero(data[at : at + size] == _NEWLINE)


def _stand_alone(page: Page) -> Mask:
    """Tell behind which lines none stands that may go on with them: all that do are indented, and have no time."""
    first = page.text.bytes[page.starts]
    indented = ((first == _SPACE) | (first == _TAB)) & ~page.timed
    alone = np.ones(page.count, np.bool_)
    alone[:-1] = ~indented[1:]
    return alone
