"""A connection's path as SVG: namespaces as boxes from top to bottom, devices as doors in them, a
column for each packet, requests down and replies up beside them.

The drawing is high and narrow, so that it can be read on a phone. It has no scripts, fonts or
links; its colors follow the reader's light or dark scheme.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from xml.sax.saxutils import escape as escape_xml

from podpath.report.drawings.path_drawing import Door, DrawnEnd, PathDrawing
from podpath.report.drawings.path_header import HeaderLine
from podpath.report.drawings.path_layout import (
    ABOVE,
    COLUMN,
    EDGE,
    LABELS,
    LINE,
    TEXT,
    WORDS_LINE,
    DrawnColumn,
    make_column,
    place_all,
)
from podpath.report.escape import clip_columns, escape

NAME = 16
"""Columns of a door's name."""
MIDDLE = ABOVE + 6
"""Of a block's first line, where its sign stands."""
MACS = 40
"""Columns of a line with MAC addresses."""
BOLD_WIDTH = 7.4
"""Of a column of a namespace's name, at most on average."""
STYLE = (
    "svg.path{color-scheme:light dark;font:12px sans-serif}"
    ".path text{fill:#1f2328}.path .box{fill:#f6f8fa;stroke:#afb8c1}"
    ".path .netns{font-weight:bold;paint-order:stroke;stroke:#f6f8fa;stroke-width:4}"
    ".path .door{stroke:#d0d7de}.path .name{font-weight:bold}"
    ".path .header{font:11px monospace;white-space:pre}.path .macs{font:9px monospace}"
    ".path .same{fill:#57606a}.path .rewritten{font-weight:bold;fill:#8250df}"
    ".path .way{stroke:#0969da;fill:none;stroke-width:2}"
    ".path .back{stroke:#1a7f37;fill:none;stroke-width:2}.path .stop{fill:#57606a}"
    ".path .broken{stroke:#cf222e;stroke-width:3;fill:none}.path .open{stroke:#9a6700;"
    "stroke-width:3;fill:none}.path .arrived{stroke:#1a7f37;stroke-width:3;fill:none}"
    ".path text.broken{fill:#cf222e;font-weight:bold}"
    ".path text.open{fill:#9a6700;font-weight:bold}"
    ".path text.arrived{fill:#1a7f37}"
    ".path text.broken,.path text.open,.path text.arrived{stroke:none}"
    "@media(prefers-color-scheme:dark){.path text{fill:#e6edf3}"
    ".path .netns{stroke:#161b22}.path .box{fill:#161b22;stroke:#6e7681}.path .door{stroke:#30363d}"
    ".path .same{fill:#8b949e}.path .rewritten{fill:#d2a8ff}"
    ".path .way{stroke:#58a6ff}.path .back{stroke:#3fb950}.path .stop{fill:#8b949e}"
    ".path .broken{stroke:#ff7b72}.path .open{stroke:#d29922}.path .arrived{stroke:#3fb950}"
    ".path text.broken{fill:#ff7b72}.path text.open{fill:#d29922}.path text.arrived{fill:#3fb950}}"
)
"""The drawing's only style; a page that holds the drawing allows it by its hash."""
_SIGNS = {
    DrawnEnd.ARRIVED: "m-7 0 5 6 9-12",
    DrawnEnd.BROKEN: "m-7 -7 14 14m0 -14 -14 14",
    DrawnEnd.OPEN: "m-5 -4q0 -6 5 -6t5 5q0 3 -5 5m0 4v2",
}
"""A tick, a cross and a question mark, around the point."""


def render_path_svg(drawing: PathDrawing, *, styled: bool = True) -> str:
    """Draw the path; whatever comes from the evidence is escaped. `styled` is false where another
    drawing of the same page has brought the style.
    """
    columns = [make_column(packet, drawing.doors) for packet in drawing.packets]
    places = place_all(drawing, columns)
    width = 2 * EDGE + LABELS + COLUMN * len(columns)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="path" viewBox="0 0 {width} '
            f'{places.height}" width="{width}" height="{places.height}" role="img">'
        ),
        f"<style>{STYLE}</style>" if styled else "",
        f"<title>{_safe(_title(drawing), 400)}</title>",
        *(_draw_box(top, height, width) for _, top, height in places.boxes),
        *(line for door, y in places.doors.items() for line in _draw_door(door, y, width)),
    ]
    for number, column in enumerate(columns):
        parts += _draw_packet(column, EDGE + LABELS + COLUMN * number, places.doors)
    parts += [_name_box(netns, top, width) for netns, top, _ in places.boxes]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _title(drawing: PathDrawing) -> str:
    """Say in words what is drawn, for who does not see it."""
    said = []
    for packet in drawing.packets:
        doors = " › ".join(stop.door.label for stop in packet.stops)
        said.append(f"{packet.name}: {doors}, {packet.words}")
    return "; ".join(said)


def _draw_box(top: int, height: int, width: int) -> str:
    return (
        f'<rect class="box" x="{EDGE}" y="{top}" width="{width - 2 * EDGE}" height="{height}" '
        'rx="6"/>'
    )


def _name_box(netns: str, top: int, width: int) -> str:
    """Write a namespace's name, over the lines that pass it."""
    name = _safe(netns, int((width - 2 * EDGE - 20) / BOLD_WIDTH))
    return f'<text class="netns" x="{EDGE + 10}" y="{top + 20}">{name}</text>'


def _draw_door(door: Door, y: int, width: int) -> Iterator[str]:
    yield f'<line class="door" x1="{EDGE}" x2="{width - EDGE}" y1="{y}" y2="{y}"/>'
    yield f'<text x="{EDGE + 14}" y="{y + 16}">{_safe(door.label, NAME)}</text>'


def _draw_packet(column: DrawnColumn, left: int, rows: Mapping[Door, int]) -> Iterator[str]:
    packet, x = column.packet, left + 14
    kind = "back" if packet.backward else "way"
    yield f'<text class="name" x="{left + 4}" y="{EDGE + 16}">{_safe(packet.name, TEXT)}</text>'
    *tops, end = column.place(rows)
    for above, below in pairwise(tops):
        turn = 1 if below > above else -1
        head = f"m-5 {-7 * turn}l5 {7 * turn} 5 {-7 * turn}"
        yield f'<path class="{kind}" d="M{x} {above + MIDDLE}V{below + MIDDLE - 4 * turn}{head}"/>'
    for top, block in zip(tops, column.blocks, strict=False):
        yield f"<g><title>{_safe(block.title, 400)}</title>"
        yield f'<circle class="stop" cx="{x}" cy="{top + MIDDLE}" r="4"/>'
        for row, line in enumerate(block.header):
            yield _write_line(line, x + 14, top + ABOVE + LINE * row + 10)
        yield "</g>"
    yield from _draw_ending(column, x, tops[-1], end)


def _write_line(line: HeaderLine, x: int, y: int) -> str:
    """Write a line of a header, each part in the color of what became of it."""
    font = "macs" if line.small else "header"
    width = MACS if line.small else TEXT - sum(len(part.text) + 1 for part in line.parts[1:])
    first, *rest = line.parts
    more = "".join(
        f'<tspan class="{one.change.value}"> {_safe(one.text, TEXT)}</tspan>' for one in rest
    )
    return (
        f'<text class="{font} {first.change.value}" x="{x}" y="{y}">'
        f"{_safe(first.text, width)}{more}</text>"
    )


def _draw_ending(column: DrawnColumn, x: int, last: int, top: int) -> Iterator[str]:
    """Mark how the packet ended, behind its last stop."""
    kind = column.packet.ending.value
    yield f'<path class="{kind}" d="M{x} {last + MIDDLE}V{top + MIDDLE}"/>'
    yield f'<path class="{kind}" d="M{x} {top + MIDDLE}{_SIGNS[column.packet.ending]}"/>'
    for row, line in enumerate(column.blocks[-1].words):
        text = escape_xml(line, {'"': "&quot;"})
        y = top + ABOVE + WORDS_LINE * row + 10
        yield f'<text class="{kind}" x="{x + 14}" y="{y}">{text}</text>'


def _safe(text: str, width: int) -> str:
    return escape_xml(clip_columns(escape(text), width), {'"': "&quot;"})
