"""A connection's path as a Mermaid sequence diagram, which ticket systems and forges draw.

Text of the evidence cannot end a line or a statement: whatever is not plain is written as a
character code (mermaid.js.org, sequenceDiagram, "Entity codes to escape characters").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from podpath.net.packet import Packet, spell_ends
from podpath.report.drawings.path_drawing import Door, DrawnEnd, DrawnPacket, PathDrawing
from podpath.report.escape import clip, escape

LONGEST = 120
"""Characters of a name or a remark."""
_PLAIN = re.compile(r"[\w .,:/>()\[\]@+=*-]", re.ASCII)
_KEYWORD = re.compile(r"\b(?=(?:end|box|loop|alt|opt|par|note|rect|title)\b)", re.IGNORECASE)


def render_path_mermaid(drawing: PathDrawing) -> str:
    """Draw the path: a box for each namespace, a lifeline for each door, arrows for hops."""
    names = {door: f"d{number}" for number, door in enumerate(drawing.doors)}
    lines = ["sequenceDiagram"]
    for netns, doors in drawing.boxes:
        lines.append(f"  box transparent {_spell(netns)}")
        lines += [f"    participant {names[door]} as {_spell(door.label)}" for door in doors]
        lines.append("  end")
    for packet in drawing.packets:
        lines += (f"  {line}" for line in _draw_packet(packet, names))
    return "\n".join(lines) + "\n"


def _draw_packet(packet: DrawnPacket, names: Mapping[Door, str]) -> Iterator[str]:
    if not packet.stops:
        return
    arrow = "-->>" if packet.backward else "->>"
    first, last = packet.stops[0], packet.stops[-1]
    yield f"Note over {names[first.door]}: {_spell(f'{packet.name} {_spell_header(first.came)}')}"
    for before, stop in pairwise(packet.stops):
        rewritten = spell_ends(before.left) != spell_ends(before.came)
        said = f"{'now' if rewritten else packet.name} {_spell_header(stop.came)}"
        yield f"{names[before.door]}{arrow}{names[stop.door]}: {_spell(said)}"
    end = names[last.door]
    words = packet.words
    if packet.left_out:
        words = f"{words} ({packet.left_out} stops not drawn)"
    if packet.ending is DrawnEnd.BROKEN:
        yield f"{end}{'--x' if packet.backward else '-x'}{end}: {_spell(words)}"
    else:
        yield f"Note over {end}: {_spell(words)}"


def _spell_header(packet: Packet) -> str:
    return f"{spell_ends(packet)}, TTL {packet.ttl}"


def _spell(text: str) -> str:
    """Write a text so that it stays one word of its statement; never empty."""
    safe = clip(" ".join(escape(text).split()), LONGEST) or "-"
    keywords = {found.start() for found in _KEYWORD.finditer(safe)}
    return "".join(
        sign if _PLAIN.match(sign) and at not in keywords else f"#{ord(sign)};"
        for at, sign in enumerate(safe)
    )
