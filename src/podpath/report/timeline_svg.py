"""A chronicle as a picture: a lane for each kind of event, the window as a band across them, the
chain of causes as a line.

One file without scripts, fonts or links, which any browser shows and any ticket takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import NamedTuple
from xml.sax.saxutils import escape as escape_xml

from podpath.report.escape import clip, escape
from podpath.report.moments import spell_moment, spell_zone
from podpath.timeline.chronicle import Chronicle
from podpath.timeline.marks import weigh_mark
from podpath.timeline.suspects import Marked
from podpath.timeline.window import FailureWindow

WIDTH, LEFT, RIGHT = 1200, 150, 30
TOP, LANE, AXIS = 84, 40, 30
_MARGIN = 0.12
"""The share of the span that is shown on either side of the window."""
_STEPS = (
    0.001,
    0.01,
    0.1,
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    14_400,
    43_200,
    86_400,
)
_TICKS = 10
_CHAR = 6.2
"""Width of a character of a label, in pixels, at 11 pixels' height."""
_LABEL = 45
"""Columns that the word at an end of the window takes."""
_COLORS = {"told": "#c62828", "inside": "#ef6c00", "other": "#78909c", "failure": "#6a1b9a"}
STYLE = (
    "text{font:12px sans-serif;fill:#263238}.small{font-size:11px}.title{font-size:15px;"
    "font-weight:bold}.axis{stroke:#90a4ae;stroke-width:1}.lane{stroke:#eceff1;"
    "stroke-width:1}.chain{stroke:#c62828;stroke-width:1.5;fill:none}.paper{fill:#fff}"
    "@media screen and (prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}"
    ".lane{stroke:#30363d}.window{fill:#4a1f24}.waiting{fill:#3a2346}}"
)


class _Scale(NamedTuple):
    """Moments to columns."""

    first: float
    last: float

    def x(self, time: float) -> float:
        """Return the column of a moment; those outside stand at the edges."""
        share = (min(max(time, self.first), self.last) - self.first) / (self.last - self.first)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


class _Dot(NamedTuple):
    time: float
    lane: str
    color: str
    label: str
    marked: Marked | None


def render_timeline_svg(chronicle: Chronicle) -> str:
    """Draw the chronicle; whatever comes from a log is escaped."""
    zone = chronicle.zone
    dots = sorted(_dots(chronicle), key=lambda dot: dot.time)
    scale = _scale(chronicle.window, dots)
    lanes = list(dict.fromkeys(dot.lane for dot in dots))
    height = TOP + LANE * max(len(lanes), 1) + AXIS + 20
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" class="timeline">'
        ),
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}"/>',
        *_titles(chronicle, zone),
        *(_band(chronicle.window, scale, len(lanes)) if chronicle.window is not None else ()),
        *_axis(scale, len(lanes), zone),
        *_lanes(lanes),
        *_draw_chain(chronicle, scale, lanes),
        *_draw_dots(dots, scale, lanes, zone),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _dots(chronicle: Chronicle) -> Iterator[_Dot]:
    told = {one.marked for story in chronicle.stories[:1] for one in story.told}
    window = chronicle.window
    for marked in chronicle.marked:
        if math.isnan(marked.event.time) or (marked not in told and weigh_mark(marked.mark) < 0.3):
            continue
        inside = window is not None and window.holds(marked.event.time)
        color = "inside" if inside else "other"
        if marked in told:
            color = "told"
        yield _Dot(marked.event.time, marked.mark.kind, _COLORS[color], marked.mark.words, marked)
    for event in chronicle.symptoms:
        yield _Dot(event.time, "failures", _COLORS["failure"], event.message, None)


def _scale(window: FailureWindow | None, dots: Sequence[_Dot]) -> _Scale:
    if window is not None:
        first, last = window.start, window.failed_at
    else:
        first, last = (dots[0].time, dots[-1].time) if dots else (0.0, 1.0)
    margin = max((last - first) * _MARGIN, 1.0)
    told = [dot.time for dot in dots if dot.color == _COLORS["told"]]
    return _Scale(min([first, *told]) - margin, last + margin)


def _titles(chronicle: Chronicle, zone: tzinfo) -> Iterator[str]:
    window = chronicle.window
    story = chronicle.stories[0].chain.title if chronicle.stories else "What changed"
    yield f'<text class="title" x="16" y="26">{_safe(clip(story, 150))}</text>'
    if window is not None:
        told = [
            (
                f"first failure {spell_moment(window.failed_at, zone)} "
                f"{spell_zone(window.failed_at, zone)}"
            )
        ]
        if window.timeout is not None:
            told.insert(
                0, f"first failing request began {spell_moment(window.began, zone, date=False)}"
            )
        if window.last_ok is not None:
            told.insert(0, f"last success {spell_moment(window.last_ok, zone, date=False)}")
        yield f'<text x="16" y="48">{_safe(", ".join(told))}</text>'


def _band(window: FailureWindow, scale: _Scale, lanes: int) -> Iterator[str]:
    """Draw the window, the wait for the timeout behind it, and their ends."""
    left, right, failed = scale.x(window.start), scale.x(window.began), scale.x(window.failed_at)
    top, bottom = TOP - 18, TOP + LANE * max(lanes, 1)
    yield _block("window", left, right, (top, bottom), "#ffebee")
    if window.timeout:
        yield _block("waiting", right, failed, (top, bottom), "#f3e5f5")
    crowded = window.timeout and failed - right < _LABEL and right - left > 4 * _LABEL
    ends = [
        (left, "last success" if window.last_ok is not None else "searched from here", "end"),
        (right, "began", "end" if crowded else "start"),
    ]
    if window.timeout:
        ends.append((failed, "failed", "start"))
    for x, text, anchor in ends:
        yield (
            f'<line x1="{x}" x2="{x}" y1="{top}" y2="{bottom}" stroke="#c62828" '
            'stroke-dasharray="4 3"/>'
        )
        shift = -4 if anchor == "end" else 4
        yield (
            f'<text class="small" x="{x + shift}" y="{top - 4}" '
            f'text-anchor="{anchor}">{text}</text>'
        )


def _block(name: str, left: float, right: float, rows: tuple[int, int], color: str) -> str:
    width, height = max(right - left, 2.0), rows[1] - rows[0]
    return (
        f'<rect class="{name}" x="{left}" y="{rows[0]}" width="{width:.1f}" height="{height}" '
        f'fill="{color}"/>'
    )


def _axis(scale: _Scale, lanes: int, zone: tzinfo) -> Iterator[str]:
    y = TOP + LANE * max(lanes, 1)
    yield f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
    span = scale.last - scale.first
    step = next((step for step in _STEPS if span / step <= _TICKS), span / _TICKS)
    tick = math.ceil(scale.first / step) * step
    while tick <= scale.last:
        x = scale.x(tick)
        yield f'<line class="axis" x1="{x}" x2="{x}" y1="{y}" y2="{y + 5}"/>'
        yield (
            f'<text class="small" x="{x}" y="{y + 19}" '
            f'text-anchor="middle">{spell_moment(tick, zone, date=False)}</text>'
        )
        tick += step


def _lanes(lanes: Sequence[str]) -> Iterator[str]:
    for place, lane in enumerate(lanes):
        y = TOP + LANE * place + LANE // 2
        yield f'<line class="lane" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
        yield f'<text x="16" y="{y + 4}">{_safe(lane)}</text>'


def _draw_chain(chronicle: Chronicle, scale: _Scale, lanes: Sequence[str]) -> Iterator[str]:
    points = [
        (
            f"{scale.x(one.marked.event.time)},"
            f"{TOP + LANE * lanes.index(one.marked.mark.kind) + LANE // 2}"
        )
        for story in chronicle.stories[:1]
        for one in story.told
        if one.marked.mark.kind in lanes
    ]
    if len(points) > 1:
        yield f'<polyline class="chain" points="{" ".join(points)}"/>'


def _draw_dots(
    dots: Sequence[_Dot], scale: _Scale, lanes: Sequence[str], zone: tzinfo
) -> Iterator[str]:
    """Draw each event; a label only where it does not run into the one before it in its lane."""
    free: dict[str, float] = {}
    for dot in dots:
        if not scale.first <= dot.time <= scale.last:
            continue
        x, y = scale.x(dot.time), TOP + LANE * lanes.index(dot.lane) + LANE // 2
        title = f"{spell_moment(dot.time, zone)} {dot.label}"
        if dot.marked is not None:
            title += f" ({dot.marked.event.span}: {clip(dot.marked.event.message, 200)})"
        yield (
            f'<circle cx="{x}" cy="{y}" r="5" fill="{dot.color}"><title>{_safe(title)}</title></'
            "circle>"
        )
        label = clip(dot.label, 40)
        if x >= free.get(dot.lane, 0.0):
            end = x + 8 + len(label) * _CHAR
            anchor, place = ("start", x + 8) if end <= WIDTH - 4 else ("end", x - 8)
            yield (
                f'<text class="small" x="{place}" y="{y - 7}" '
                f'text-anchor="{anchor}">{_safe(label)}</text>'
            )
            free[dot.lane] = end


def _safe(text: str) -> str:
    return escape_xml(escape(text), {'"': "&quot;"})
