"""A connection's path as SVG: namespaces as boxes from top to bottom, devices as doors in them, a
column for each packet, requests down and replies up beside them.

The drawing is high and narrow, so that it can be read on a phone. It has no scripts, fonts or
links; its colors follow the reader's light or dark scheme.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from xml.sax.saxutils import escape as escape_xml

from podpath.report.drawings.path_drawing import Door, DrawnEnd, DrawnPacket, PathDrawing
from podpath.report.escape import clip, escape

EDGE, LABELS, COLUMN = 8, 172, 236
"""Widths: around the drawing, of the doors' names, of a packet."""
HEAD, ROW, BETWEEN = 30, 50, 16
"""Heights: of a packet's name and of a box's, of a door, between boxes."""
NAME, TEXT, WORDS, LINES = 24, 32, 28, 4
"""Characters of a door's name, of a header's line and of a line on how a packet ended; such lines.
"""
LINE = 14
"""Height of a line of text."""
STYLE = (
    "svg.path{color-scheme:light dark;font:12px sans-serif}"
    ".path text{fill:#1f2328}.path .box{fill:#f6f8fa;stroke:#afb8c1}"
    ".path .netns{font-weight:bold}.path .door{stroke:#d0d7de}.path .name{font-weight:bold}"
    ".path .header{font:11px monospace}.path .way{stroke:#0969da;fill:none;stroke-width:2}"
    ".path .back{stroke:#1a7f37;fill:none;stroke-width:2}.path .stop{fill:#57606a}"
    ".path .broken{stroke:#cf222e;stroke-width:3;fill:none}.path .open{stroke:#9a6700;"
    "stroke-width:3;fill:none}.path .arrived{stroke:#1a7f37;stroke-width:3;fill:none}"
    ".path text.broken{fill:#cf222e;font-weight:bold}"
    ".path text.open{fill:#9a6700;font-weight:bold}"
    ".path text.arrived{fill:#1a7f37}"
    ".path text.broken,.path text.open,.path text.arrived{paint-order:stroke;stroke:#f6f8fa;"
    "stroke-width:4}"
    "@media(prefers-color-scheme:dark){.path text{fill:#e6edf3}"
    ".path .box{fill:#161b22;stroke:#6e7681}.path .door{stroke:#30363d}"
    ".path .way{stroke:#58a6ff}.path .back{stroke:#3fb950}.path .stop{fill:#8b949e}"
    ".path .broken{stroke:#ff7b72}.path .open{stroke:#d29922}.path .arrived{stroke:#3fb950}"
    ".path text.broken{fill:#ff7b72}.path text.open{fill:#d29922}.path text.arrived{fill:#3fb950}"
    ".path text.broken,.path text.open,.path text.arrived{stroke:#161b22}}"
)
"""The drawing's only style; a page that holds the drawing allows it by its hash."""
_SIGNS = {
    DrawnEnd.ARRIVED: "m-7 0 5 6 9-12",
    DrawnEnd.BROKEN: "m-7 -7 14 14m0 -14 -14 14",
    DrawnEnd.OPEN: "m-5 -4q0 -6 5 -6t5 5q0 3 -5 5m0 4v2",
}
"""A tick, a cross and a question mark, around the point."""


class _Places(NamedTuple):
    """Where everything stands."""

    doors: dict[Door, int]
    boxes: list[tuple[str, int, int]]
    """Each namespace with its top and height."""
    height: int


def render_path_svg(drawing: PathDrawing) -> str:
    """Draw the path; whatever comes from the evidence is escaped."""
    places = _place(drawing)
    width = 2 * EDGE + LABELS + COLUMN * len(drawing.packets)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="path" viewBox="0 0 {width} '
            f'{places.height}" width="{width}" height="{places.height}" role="img">'
        ),
        f"<style>{STYLE}</style>",
        f"<title>{_safe(_title(drawing), 400)}</title>",
        *(line for box in places.boxes for line in _draw_box(*box, width)),
        *(line for door, y in places.doors.items() for line in _draw_door(door, y, width)),
    ]
    for column, packet in enumerate(drawing.packets):
        parts += _draw_packet(packet, EDGE + LABELS + COLUMN * column, places.doors)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _title(drawing: PathDrawing) -> str:
    """Say in words what is drawn, for who does not see it."""
    said = []
    for packet in drawing.packets:
        doors = " › ".join(stop.door.label for stop in packet.stops)
        said.append(f"{packet.name}: {doors}, {packet.words}")
    return "; ".join(said)


def _place(drawing: PathDrawing) -> _Places:
    doors: dict[Door, int] = {}
    boxes: list[tuple[str, int, int]] = []
    y = EDGE + HEAD
    for netns, group in drawing.boxes:
        height = HEAD + ROW * len(group)
        boxes.append((netns, y, height))
        for row, door in enumerate(group):
            doors[door] = y + HEAD + ROW * row + ROW // 3
        y += height + BETWEEN
    below = [doors[one.stops[-1].door] for one in drawing.packets if one.stops and not one.backward]
    words = max((place + ROW // 3 + LINE * (LINES + 1) for place in below), default=0)
    return _Places(doors, boxes, max(y - BETWEEN + EDGE, words))


def _draw_box(netns: str, top: int, height: int, width: int) -> Iterator[str]:
    yield (
        f'<rect class="box" x="{EDGE}" y="{top}" width="{width - 2 * EDGE}" height="{height}" '
        'rx="6"/>'
    )
    yield f'<text class="netns" x="{EDGE + 10}" y="{top + 20}">{_safe(netns, 60)}</text>'


def _draw_door(door: Door, y: int, width: int) -> Iterator[str]:
    yield f'<line class="door" x1="{EDGE}" x2="{width - EDGE}" y1="{y}" y2="{y}"/>'
    yield f'<text x="{EDGE + 14}" y="{y + 16}">{_safe(door.label, NAME)}</text>'


def _draw_packet(packet: DrawnPacket, left: int, rows: dict[Door, int]) -> Iterator[str]:
    x = left + 14
    kind = "back" if packet.backward else "way"
    yield f'<text class="name" x="{left + 4}" y="{EDGE + 16}">{_safe(packet.name, TEXT)}</text>'
    ys = [rows[stop.door] for stop in packet.stops]
    for above, below in pairwise(ys):
        turn = 1 if below > above else -1
        head = f"m-5 {-7 * turn}l5 {7 * turn} 5 {-7 * turn}"
        yield f'<path class="{kind}" d="M{x} {above}V{below - 4 * turn}{head}"/>'
    for place, stop in enumerate(packet.stops):
        y = rows[stop.door]
        yield f'<circle class="stop" cx="{x}" cy="{y}" r="4"/>'
        if stop.header:
            yield from _write_header(stop.header, x + 14, y, rewritten=place > 0)
    yield from _draw_ending(packet, x, ys)


def _write_header(header: str, x: int, y: int, *, rewritten: bool) -> Iterator[str]:
    src, _, dst = header.partition(" > ")
    sign = "⇒ " if rewritten else ""
    yield f'<text class="header" x="{x}" y="{y - 4}">{_safe(sign + src, TEXT)}</text>'
    yield f'<text class="header" x="{x}" y="{y + 10}">› {_safe(dst, TEXT)}</text>'


def _draw_ending(packet: DrawnPacket, x: int, ys: list[int]) -> Iterator[str]:
    """Mark where the packet ended: where it arrived, or on the way from its last stop."""
    turn = -1 if packet.backward else 1
    y = ys[-1] if ys else EDGE + HEAD
    kind = packet.ending.value
    if packet.ending is not DrawnEnd.ARRIVED:
        end = y + turn * (ROW // 3)
        yield f'<path class="{kind}" d="M{x} {y}V{end}"/>'
        y = end
    yield f'<path class="{kind}" d="M{x} {y}{_SIGNS[packet.ending]}"/>'
    lines = _wrap_words(packet)
    last = y - 2 if packet.ending is not DrawnEnd.ARRIVED else y - 18
    first = y + 22 if turn > 0 else last - LINE * (len(lines) - 1)
    for row, line in enumerate(lines):
        text = escape_xml(line, {'"': "&quot;"})
        yield f'<text class="{kind}" x="{x + 14}" y="{first + LINE * row}">{text}</text>'


def _wrap_words(packet: DrawnPacket) -> list[str]:
    words = escape(packet.words)
    if packet.left_out:
        words = f"{words} ({packet.left_out} stops not drawn)"
    return textwrap.wrap(words, WORDS, max_lines=LINES, placeholder=" …")


def _safe(text: str, width: int) -> str:
    return escape_xml(clip(escape(text), width), {'"': "&quot;"})
