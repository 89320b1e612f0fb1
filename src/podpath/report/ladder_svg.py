"""A connection across its capture points as a picture: a life line for each point, an arrow for
each packet, losses in red.

One file without scripts, fonts or links, which any browser shows and any ticket takes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from xml.sax.saxutils import escape as escape_xml

from podpath.capture.sightings import Ladder, LadderStep
from podpath.report.escape import clip, escape
from podpath.report.ladder import choose_steps, describe_post, letter, spell_title

LEFT, COLUMN, ROW, RIGHT = 260, 190, 30, 260
LINE = 15
"""The height of a line of words."""
FITS = 24
"""Letters of a point's name that fit between two life lines."""
_PARTS = re.compile(r"[^-_./ ]*[-_./ ]?")
"""What a name is broken behind."""
STYLE = (
    "text{font:12px sans-serif;fill:#263238}.small{font-size:11px;"
    "fill:#607d8b}.title{font-size:15px;font-weight:bold}"
    ".post{stroke:#b0bec5;stroke-width:1}.way{stroke:#1565c0;stroke-width:1.5}.back{stroke:#2e7d32;"
    "stroke-width:1.5}.lost{stroke:#c62828;stroke-width:2}.bad{fill:#c62828;"
    "font-weight:bold}.past{stroke-dasharray:3 3}.paper{fill:#fff}"
    "@media screen and (prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}"
    ".small{fill:#8b949e}.post{stroke:#6e7681}.way{stroke:#58a6ff}.back{stroke:#3fb950}"
    ".lost{stroke:#ff7b72}.bad{fill:#ff7b72}}"
)


def render_ladder_svg(ladder: Ladder) -> str:
    """Draw a ladder; whatever comes from a capture's name is escaped."""
    rows = list(choose_steps(ladder.steps))
    names = shorten_names([post.name for post in ladder.posts])
    heads = [break_name(f"{letter(at)} {name}") for at, name in enumerate(names)]
    above = 66 + 18 * len(ladder.posts)
    top = above + LINE * (max(map(len, heads), default=1) - 1)
    places = list(accumulate((ROW + LINE * _count_lost(row) for row in rows), initial=top + ROW))
    width, height = LEFT + COLUMN * max(len(ladder.posts) - 1, 0) + RIGHT, places[-1] + 10
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img">'
        ),
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        f'<text class="title" x="16" y="26">{_safe(clip(spell_title(ladder), 150))}</text>',
        *_legend(ladder, names),
        *_posts(heads, above, (top, height - 16)),
    ]
    for y, row in zip(places, rows, strict=False):
        if isinstance(row, int):
            parts.append(
                f'<text class="small" x="{LEFT}" y="{y + 4}">… {row} more packets, all of which '
                "passed</text>"
            )
        else:
            parts += _step(row, y)
    return "\n".join([*parts, "</svg>"]) + "\n"


def shorten_names(names: Sequence[str]) -> list[str]:
    """Leave out the folder that all names begin with."""
    start = posixpath.commonprefix(list(names)).rpartition("/")
    return [name[len(start[0]) + len(start[1]) :] for name in names]


def break_name(name: str) -> list[str]:
    """Break a name into lines that fit above a life line, behind hyphens, dots and the like, and
    what is too long for a line within it.
    """
    lines = [""]
    for part in _PARTS.findall(name):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > FITS:
            lines.append("")
        lines[-1] += part
        while len(lines[-1].rstrip()) > FITS:
            lines[-1:] = [lines[-1][:FITS], lines[-1][FITS:]]
    return [line.strip() for line in lines]


def _count_lost(row: LadderStep | int) -> int:
    return len(row.lost) if isinstance(row, LadderStep) else 0


def _legend(ladder: Ladder, names: Sequence[str]) -> Iterator[str]:
    for at, (before, post) in enumerate(pairwise([None, *ladder.posts])):
        if post is not None:
            text = f"{letter(at)}  {names[at]}: {describe_post(post, before)}"
            yield f'<text x="16" y="{48 + 18 * at}">{_safe(text)}</text>'


def _posts(heads: Sequence[Sequence[str]], above: int, ends: tuple[int, int]) -> Iterator[str]:
    top, bottom = ends
    for at, lines in enumerate(heads):
        x = _x(at)
        yield f'<line class="post" x1="{x}" x2="{x}" y1="{top + 6}" y2="{bottom}"/>'
        for number, line in enumerate(lines):
            y = above + LINE * number
            yield f'<text x="{x}" y="{y}" text-anchor="middle">{_safe(line)}</text>'


def _x(post: int) -> int:
    return LEFT + COLUMN * post


def _step(step: LadderStep, y: int) -> Iterator[str]:
    """Draw one packet: when it was, its arrows from point to point, where it was lost."""
    yield f'<text class="small" x="16" y="{y + 4}">{step.time / 1e9:.6f} s</text>'
    yield f'<text x="{LEFT - 24}" y="{y + 4}" text-anchor="end">{_safe(clip(step.what, 24))}</text>'
    kind, turn = ("way", 1) if step.forward else ("back", -1)
    seen = [at for at, numbers in enumerate(step.packets) if numbers]
    for start, stop in pairwise(seen if step.forward else seen[::-1]):
        past = " past" if abs(stop - start) > 1 else ""
        yield from _arrow(f"{kind}{past}", (_x(start), _x(stop)), y, turn)
    for number, (after, before, what) in enumerate(step.lost, 1):
        words = f"{what} lost between {letter(after)} and {letter(before)}"
        yield from _loss(after, turn, (y, y + LINE * number), words)
    for at in seen:
        yield from _sighting(at, y, step.packets[at])


def _loss(after: int, turn: int, heights: tuple[int, int], words: str) -> Iterator[str]:
    """Draw a cross behind the last point that saw the packet, and below it what was lost."""
    y, low = heights
    x = _x(after) + turn * COLUMN // 2
    cross = f"M{x - 6} {y - 6}L{x + 6} {y + 6}M{x - 6} {y + 6}L{x + 6} {y - 6}"
    yield f'<line class="lost" x1="{_x(after)}" x2="{x}" y1="{y}" y2="{y}"/>'
    yield f'<path class="lost" d="{cross}"/>'
    yield f'<text class="bad" x="{x}" y="{low}" text-anchor="middle">{_safe(words)}</text>'


def _sighting(at: int, y: int, numbers: Sequence[int]) -> Iterator[str]:
    """Draw a dot where a point saw the packet, with its numbers in the capture."""
    more = f" +{len(numbers) - 1}" if len(numbers) > 1 else ""
    title = _safe(", ".join(f"#{number}" for number in numbers[:40]))
    yield f'<circle cx="{_x(at)}" cy="{y}" r="3" fill="#37474f"><title>{title}</title></circle>'
    yield f'<text class="small" x="{_x(at) + 5}" y="{y - 6}">#{numbers[0]}{more}</text>'


def _arrow(kind: str, ends: tuple[int, int], y: int, turn: int) -> Iterator[str]:
    start, stop = ends
    yield f'<line class="{kind}" x1="{start + 4 * turn}" x2="{stop - 5 * turn}" y1="{y}" y2="{y}"/>'
    yield (
        f'<path class="{kind}" d="M{stop - 12 * turn} {y - 4}L{stop - 4 * turn} '
        f'{y}L{stop - 12 * turn} {y + 4}" fill="none"/>'
    )


def _safe(text: str) -> str:
    return escape_xml(escape(text), {'"': "&quot;"})
