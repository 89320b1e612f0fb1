"""Where everything of a drawn path stands: a row for each door, a column for each packet, and in
each column blocks one below the other, so that no words stand on others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from podpath.report.drawings.path_drawing import Door, DrawnPacket, PathDrawing
from podpath.report.drawings.path_header import HeaderLine, describe_header, list_headers
from podpath.report.escape import escape, measure, wrap_columns

EDGE, LABELS, COLUMN = 8, 124, 244
"""Widths: around the drawing, of the doors' names, of a packet."""
HEAD, BETWEEN = 30, 16
"""Heights: of a packet's name and of a box's, between boxes."""
TEXT, WORDS, LINES = 32, 28, 6
"""Columns of a header's line and of a line on how a packet ended; such lines at most."""
LINE, WORDS_LINE, ABOVE, BELOW = 13, 14, 6, 8
"""Heights: of a line of a header, of one on how a packet ended, above and below such lines."""


class DrawnBlock(NamedTuple):
    """What stands beside a packet's line at a door: the header of a stop, or how it ended."""

    door: Door
    height: int
    header: tuple[HeaderLine, ...] = ()
    title: str = ""
    words: tuple[str, ...] = ()


class DrawnColumn(NamedTuple):
    """A packet with its blocks, in the order of its way."""

    packet: DrawnPacket
    blocks: tuple[DrawnBlock, ...]
    rising: frozenset[Door]
    """Doors that it comes to from below: what it does there later stands higher."""

    def list_at(self, door: Door) -> list[DrawnBlock]:
        """Return what stands at a door, from top to bottom."""
        found = [block for block in self.blocks if block.door == door]
        return found[::-1] if door in self.rising else found

    def measure(self, door: Door) -> int:
        """Return how high a door's row has to be for it."""
        return sum(block.height for block in self.list_at(door))

    def place(self, rows: Mapping[Door, int]) -> list[int]:
        """Return the top of each block."""
        tops: dict[int, int] = {}
        for door in dict.fromkeys(block.door for block in self.blocks):
            y = rows[door]
            for block in self.list_at(door):
                tops[id(block)] = y
                y += block.height
        return [tops[id(block)] for block in self.blocks]


class Places(NamedTuple):
    """Where everything stands."""

    doors: dict[Door, int]
    boxes: list[tuple[str, int, int]]
    """Each namespace with its top and height."""
    height: int


def make_column(packet: DrawnPacket, doors: Sequence[Door]) -> DrawnColumn:
    """List what stands beside a packet's line; `doors` are all, from top to bottom."""
    blocks = [
        DrawnBlock(stop.door, ABOVE + LINE * len(header) + BELOW, header, describe_header(stop))
        for stop, header in zip(packet.stops, list_headers(packet, TEXT), strict=True)
    ]
    words = tuple(_wrap_words(packet))
    height = ABOVE + WORDS_LINE * max(len(words), 1) + BELOW
    blocks.append(DrawnBlock(packet.stops[-1].door, height, words=words))
    return DrawnColumn(packet, tuple(blocks), frozenset(_list_rising(packet, doors)))


def _list_rising(packet: DrawnPacket, doors: Sequence[Door]) -> Iterator[Door]:
    """Name the doors that the packet first comes to from below; the one where it starts, if it goes
    up from there.
    """
    way = tuple(dict.fromkeys(stop.door for stop in packet.stops))
    places = [doors.index(door) for door in way]
    if places[1] < places[0] if places[1:] else packet.backward:
        yield way[0]
    for before, place in pairwise(places):
        if place < before:
            yield doors[place]


def place_all(drawing: PathDrawing, columns: Sequence[DrawnColumn]) -> Places:
    """Give each door a row that is high enough for what each packet has there."""
    doors: dict[Door, int] = {}
    boxes: list[tuple[str, int, int]] = []
    y = EDGE + HEAD
    for netns, group in drawing.boxes:
        top = y
        y += HEAD
        for door in group:
            doors[door] = y
            y += max(one.measure(door) for one in columns)
        boxes.append((netns, top, y - top))
        y += BETWEEN
    return Places(doors, boxes, y - BETWEEN + EDGE)


def _wrap_words(packet: DrawnPacket) -> list[str]:
    words = escape(packet.words)
    if packet.left_out:
        words = f"{words} ({packet.left_out} stops not drawn)"
    lines = wrap_columns(words, WORDS)
    if len(lines) <= LINES:
        return lines
    last = lines[LINES - 1]
    while measure(f"{last} …") > WORDS:
        last = last[:-1]
    return [*lines[: LINES - 1], f"{last} …"]
